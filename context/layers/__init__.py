"""The four layers of a request. Each module turns its sources into pieces; none counts or cuts."""
