"""Connected shops."""
