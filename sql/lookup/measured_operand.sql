-- Operand shapes of single measurements.
-- param: row_ids bigint[] [measurement.row_id]
-- param: first_id bigint [least of them]
-- param: last_id bigint [greatest of them; what lies beyond both is not read]
select row_id, operand_shapes from measurement
where row_id between $first_id and $last_id and row_id in $row_ids::bigint[]
