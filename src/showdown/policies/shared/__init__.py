"""What several families of policies share: no family itself, no presets."""
