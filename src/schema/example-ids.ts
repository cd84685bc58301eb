/** The ids of examples. */
export const CANDIDATE_ID = "cand_01k9z3v5m8e6q9t2w4y7b1d3f5";
export const DOCUMENT_ID = "doc_01k9z3v6n0f7r2x5c8a1s4g6h9";
export const REFERENCE_ID = "ref_01k9z3v7p2g8s3z6d9b2t5j7k1";
export const WEBHOOK_ID = "wh_01k9z3v8q1h3t9a7e0c3v6k8m2";
