-- Measurements that may answer attention targets: in the kernels' files and those between, of a mean length near theirs.
-- param: first_file integer [first file of the kernels]
-- param: last_file integer [last file of the kernels]
-- param: first_seq double [least mean length]
-- param: last_seq double [greatest mean length]
select row_id, file_id, signature_id, latency_us, latency_column, latency_rank, line_number,
    operand_shapes[1:2] as operand_shapes, operand_dtypes[1:1] as operand_dtypes, operand_gaps[1:2] as operand_gaps,
    avg_seq_len, runtime_avg_seq_len, runtime_sparse_mode, runtime_num_key_value_heads, runtime_input_layout,
    runtime_metadata_completeness
from measurement
where file_id between $first_file and $last_file
    and (avg_seq_len between $first_seq and $last_seq or runtime_avg_seq_len between $first_seq and $last_seq)
