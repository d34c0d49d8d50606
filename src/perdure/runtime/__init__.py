"""The runtime: where decisions become deeds, and deeds become messages. Everything that awaits is here."""
