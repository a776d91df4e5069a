#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace blockzoo {

/// Objects that keep what they learn from call to call, one for each call at a time.
template <class T>
class Pool {
 public:
  /// An object of the pool's, which goes back when the lease ends.
  class Lease {
   public:
    Lease(const Pool& pool, std::unique_ptr<T> object) : pool_(pool), object_(std::move(object)) {}
    ~Lease() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.idle_.push_back(std::move(object_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    T& operator*() const { return *object_; }

   private:
    const Pool& pool_;
    std::unique_ptr<T> object_;
  };

  Lease lend() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return {*this, std::make_unique<T>()};
    auto object = std::move(idle_.back());
    idle_.pop_back();
    return {*this, std::move(object)};
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace blockzoo
