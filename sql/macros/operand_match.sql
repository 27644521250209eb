-- How an operand matches a measured one, [label] or [label, 'padded'], equal forms first; null when it does not.
-- Forms that a kernel does not have are null. An operand whose leading 1 stays on is not padded, nor is a swapped weight.
create or replace temp macro operand_match(asked, bare, swapped, flat, merge, measured, bare_measured) as case
    when len(asked) = 0 then null
    when asked = measured then ['']
    when bare = measured or bare = bare_measured then ['batch_strip']
    when swapped = measured then ['transpose']
    when flat = measured then ['flatten_3d']
    when merge = measured then ['merge_last_dims']
    when dims_pad(bare, measured) then ['', 'padded']
    when dims_pad(bare, bare_measured) then ['batch_strip', 'padded']
    when dims_pad(flat, measured) then ['flatten_3d', 'padded']
    when dims_pad(merge, measured) then ['merge_last_dims', 'padded']
end
