"""An agent's work against a scripted server: what is asked for, what answers, and what it costs."""
