"""Recording: from the frames of a target to a run on disk, sealed part by part."""
