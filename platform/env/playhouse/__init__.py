"""The Playhouse: a house of rooms, furniture and small objects, with two players who see, grasp and talk."""
