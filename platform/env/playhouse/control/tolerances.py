"""Distances and angles that several experts share."""

from __future__ import annotations

import math

APPROACH_AIM_RAD = math.radians(12)  # off a thing that an expert has walked up to
START_RADIUS_M = 0.3  # from the start of a run, and from the spot to throw from
BENT_ARM_M = 1.1  # from the body to a carried thing, at most, if the arm can be bent
CARRY_HEIGHT_M = 0.75  # of the middle of a carried tool, or of a thing that is carried without pushing and pulling
CARRY_PITCH_RAD = math.radians(-25)
STEP_PITCH_RAD = math.radians(12.5)  # up or down in one step, with a thing in hand
