"""The pipeline, one function a stage."""
