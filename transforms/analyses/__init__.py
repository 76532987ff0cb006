"""What the passes ask about a program; nothing here changes one."""
