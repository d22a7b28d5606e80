"""The four layers of a request. Each file turns its sources into pieces; none counts or cuts."""
