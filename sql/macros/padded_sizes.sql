-- Dims of each shape rounded up to 64, in ascending order: equal for a row and for every target that pads it to a block of 8 to 64.
create or replace temp macro padded_sizes(shapes) as
    list_transform(shapes, lambda shape: list_sort(list_transform(shape, lambda dim: ((dim + 63) // 64) * 64)))
