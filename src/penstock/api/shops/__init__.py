"""Connected shops over HTTP."""
