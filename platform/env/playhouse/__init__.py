"""The Playhouse: a house of rooms, furniture and small objects, with two avatars who see, grasp and talk."""
