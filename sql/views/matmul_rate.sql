-- Achieved rate of every matrix multiplication: operations and bytes over its latency.
-- example: Which MatMulV2 rows claim more TFLOP/s than the device can do?
create or replace view matmul_rate as
with sizes as (
    select m.row_id, m.file_id, m.version_id, m.kernel_type, m.line_number, m.operand_shapes, m.operand_dtypes, m.latency_us,
        m.output_shapes[1] as output, m.operand_shapes[1][-1] as k, list_product(m.output_shapes[1]) as output_count,
        list_transform(m.operand_dtypes[1:2] || m.output_dtypes[1:1], lambda name: case
            when name in ('INT8', 'UINT8', 'FLOAT8_E4M3FN', 'FLOAT8_E5M2') then 1 when name in ('DT_BF16', 'FLOAT16') then 2
            when name in ('FLOAT', 'INT32') then 4 when name in ('INT4', 'FLOAT4_E2M1') then 0.5 end) as widths
    from measurement as m join kernel_trait as t using (kernel_type)
    where t.is_matmul and len(m.operand_shapes) >= 2 and len(m.operand_shapes[1]) >= 2 and len(m.output_shapes[1]) >= 2
), rates as (
    select *, 2 * output_count * k * if(kernel_type = 'GroupedMatmulSwigluQuant', 2, 1) as operation_count,
        list_product(operand_shapes[1]) * widths[1] + list_product(operand_shapes[2]) * widths[2]
            + output_count * widths[3] as byte_count
    from sizes
)
select v.version_key, r.kernel_type, f.file_name, r.row_id, r.line_number, r.operand_shapes, r.operand_dtypes, r.output,
    r.latency_us, r.operation_count, r.byte_count, r.operation_count / r.latency_us / 1e6 as tflops,
    r.byte_count / r.latency_us / 1e3 as gbytes_per_second, r.operation_count / r.byte_count as intensity
from rates as r join source_file as f using (file_id) join profile_version as v on v.version_id = r.version_id
where r.operation_count > 0
order by tflops desc, r.row_id;
comment on view matmul_rate is 'One row per measurement of a matrix multiplication, the fastest first; compare tflops and gbytes_per_second with the peaks of the device, which no CSV tells [source: measurement, kernel_trait]';
comment on column matmul_rate.version_key is 'Version [profile_version.version_key]';
comment on column matmul_rate.kernel_type is 'Kernel [measurement.kernel_type]';
comment on column matmul_rate.file_name is 'CSV of the row [source_file.file_name]';
comment on column matmul_rate.row_id is 'Measurement [measurement.row_id]';
comment on column matmul_rate.line_number is 'Physical line where the row starts [count]';
comment on column matmul_rate.operand_shapes is 'Input shapes, FRACTAL_NZ restored to ND [elements, measurement.operand_shapes]';
comment on column matmul_rate.operand_dtypes is 'Their dtypes [list of text, measurement.operand_dtypes]';
comment on column matmul_rate.output is 'Shape of the first output [elements, measurement.output_shapes]';
comment on column matmul_rate.latency_us is 'Latency that lookups use [us, measurement.latency_us]';
comment on column matmul_rate.operation_count is 'Multiplications and additions: 2 times output elements times the last dim of the first operand, twice that where a fused SwiGlu halves the output [count]';
comment on column matmul_rate.byte_count is 'First two operands and first output read or written once, null when the size of a dtype is unknown [bytes]';
comment on column matmul_rate.tflops is 'operation_count over latency_us, integer operations too [TFLOP/s]';
comment on column matmul_rate.gbytes_per_second is 'byte_count over latency_us [GB/s]';
comment on column matmul_rate.intensity is 'operation_count over byte_count [FLOP/byte]';
