"""What a text names, found by rules: flights, dates, money, people, places, addresses, files, versions."""
