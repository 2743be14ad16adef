"""People of the studio: pseudonyms, invitations, logins, consent, their own data."""
