"""Pictures of the Playhouse, drawn on a GPU from poses."""
