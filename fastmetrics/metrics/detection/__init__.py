"""Boxes and masks against boxes and masks: COCO and VOC mean average precision."""

__all__: list[str] = []
