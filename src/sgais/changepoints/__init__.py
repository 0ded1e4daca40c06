"""Change points as a posterior: a bank of evidences that start at different rows, for any model."""

from sgais.changepoints.change_points import ChangePoints
from sgais.changepoints.records import ChangePointRecord, Segment, Segmentation

__all__ = ["ChangePointRecord", "ChangePoints", "Segment", "Segmentation"]
