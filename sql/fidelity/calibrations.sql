-- What confidence labels came to, by kernel and path, for buckets with enough answers.
-- param: kernels varchar[] [kernels, empty for all]
-- param: least integer [fewest answers of a bucket]
select v.version_id, c.kernel_type, c.path, c.confidence_from, c.confidence_to, c.calibrated, c.n_answered
from fidelity_calibration as c join profile_version as v using (version_key)
where c.n_answered >= $least and (len($kernels) = 0 or list_contains($kernels, c.kernel_type))
order by v.version_id, c.kernel_type, c.path, c.confidence_from
