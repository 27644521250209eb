-- Dims of the operands of a file and what padding makes of them, one more than are kept when there are too many.
-- param: file_id integer [file]
-- param: most integer [dims that are kept of a file]
select slot, place, dim, is_measured from operand_dim where file_id = $file_id limit $most + 1
