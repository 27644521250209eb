-- Whether every dim of a shape is that of another one, or that one rounded up to a block.
create or replace temp macro dims_pad(shape, measured) as len(shape) = len(measured)
    and coalesce(list_bool_and(list_transform(list_zip(shape, measured), lambda pair: pair[1] = pair[2] or pads_to(pair[1], pair[2]))), false)
