-- Operand shapes of single measurements.
-- param: row_ids bigint[] [measurement.row_id]
select row_id, operand_shapes from measurement where row_id in $row_ids::bigint[]
