"""What an agent is paid: learned from marks (ibt), or read from the task (scripted); and the service that scores."""
