#pragma once

#include "blockzoo/kernels/attention.h"

namespace blockzoo {

/// Whether attend_one_query() takes these inputs of attend(): one query a sequence, and nothing learns.
bool one_query_fits(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options);

/// attend() of one query for each head of each sequence: keys and values are read where they lie, once for each query
/// head, and only scores are held.
Tensor attend_one_query(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options);

}  // namespace blockzoo
