"""The `interplay` command: one verb a stage, plus demo, doctor, look and print-config."""
