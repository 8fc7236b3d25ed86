"""What the paper measures besides its comparison of methods: one small experiment a file."""
