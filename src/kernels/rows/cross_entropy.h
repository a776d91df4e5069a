#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/rows/element.h"

namespace blockzoo::rows {

/// Of each row of logits [rows, vocabulary]: log Z = logsumexp, and loss = log Z - logit[target]; the loss is zero
/// where the target is negative.
void cross_entropy(size_t rows, size_t vocabulary, const float* logits, const int64_t* targets, float* losses,
                   float* log_z);
void cross_entropy(size_t rows, size_t vocabulary, const Bf16* logits, const int64_t* targets, float* losses,
                   float* log_z);

/// The gradient of the logits for gradients of the losses and of log Z [rows]:
///   (dloss + dlog_z) softmax - dloss at the target, with dloss taken as zero where the target is negative.
void cross_entropy_backward(size_t rows, size_t vocabulary, const float* logits, const int64_t* targets,
                            const float* log_z, const float* dlosses, const float* dlog_z, float* dlogits);
void cross_entropy_backward(size_t rows, size_t vocabulary, const Bf16* logits, const int64_t* targets,
                            const float* log_z, const float* dlosses, const float* dlog_z, Bf16* dlogits);

}  // namespace blockzoo::rows
