"""The recurrences again, as fast as the chip allows; each is tested against its plain version."""
