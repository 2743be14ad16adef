"""Spatial and event predicates: pure functions of one or two `HouseFacts`. Meters and radians throughout."""

# One namespace: each of these modules defines nothing but predicates, their tolerances and their types.

from interplay.env.playhouse.truth.predicates.arrangements import *
from interplay.env.playhouse.truth.predicates.geometry import *
from interplay.env.playhouse.truth.predicates.perception import *
from interplay.env.playhouse.truth.predicates.relations import *
