"""The web server of the studio: application, security, limits, pages."""
