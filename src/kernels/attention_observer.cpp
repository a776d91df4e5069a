#include "blockzoo/kernels/attention_observer.h"

namespace blockzoo {
namespace {

thread_local AttentionObserver* observer = nullptr;
thread_local int64_t observed_layer = 0;

}  // namespace

AttentionObserver::AttentionObserver() : before_(observer) { observer = this; }
AttentionObserver::~AttentionObserver() { observer = before_; }
AttentionObserver* AttentionObserver::current() { return observer; }

AttentionLayerScope::AttentionLayerScope(int64_t layer) : before_(observed_layer) { observed_layer = layer; }
AttentionLayerScope::~AttentionLayerScope() { observed_layer = before_; }
int64_t AttentionLayerScope::current() { return observed_layer; }

}  // namespace blockzoo
