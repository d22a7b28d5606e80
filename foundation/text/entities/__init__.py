"""What a text names, by rules: people, places, money, flights, addresses, files, versions."""
