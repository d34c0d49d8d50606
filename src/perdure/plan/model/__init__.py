"""What a plan is made of. Data only: nothing here runs, waits or decides."""
