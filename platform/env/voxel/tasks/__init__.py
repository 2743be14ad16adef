"""Tasks of the voxel world: instructions to build, questions, and what of a plan is to be built next."""
