"""The studio: a web server over one run, on whose pages people take part; see docs/studio.md.

`web` holds the server, `people` pseudonyms and logins. The web process imports no torch.
"""
