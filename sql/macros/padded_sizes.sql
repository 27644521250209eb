-- Dims of each shape rounded up to 64: equal for a row and for every target that pads it to a block of 8 to 64.
-- Weights, all operands but the first, may be transposed, so theirs are in ascending order.
create or replace temp macro padded_sizes(shapes) as list_transform(
    list_transform(shapes, lambda shape: list_transform(shape, lambda dim: ((dim + 63) // 64) * 64)),
    lambda dims, place: if(place = 1, dims, list_sort(dims)))
