#include "train/alarms.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "blockzoo/data/overlap.h"

namespace blockzoo {

constexpr int64_t kShortest = 64;

std::string overlap_alarm(const Session& session) {
  if (session.config().model.context < kShortest) return "";
  const auto found = windows_in_training_data(*session.corpus().train, session.validation_windows());
  if (found == 0) return "";
  return fmt::format(
      "{} of {} validation windows stand in the training data, so the validation loss is partly a training loss", found,
      session.validation_windows().size());
}

std::string start_alarm(double first_loss, int64_t vocabulary) {
  constexpr double allowed = 0.25;
  const double guessing = std::log(static_cast<double>(vocabulary));
  if (!std::isfinite(first_loss) || std::abs(first_loss - guessing) <= allowed * guessing) return "";
  return fmt::format("the first loss, {:.2f}, is far from ln({}) = {:.2f}, which guessing gives: {}", first_loss,
                     vocabulary, guessing,
                     first_loss > guessing ? "the start values are too large" : "the targets are known beforehand");
}

std::string tokens_alarm(int64_t seen, int64_t planned) {
  if (seen == planned) return "";
  return fmt::format("the run trained on {} tokens, and its config plans {}", seen, planned);
}

std::string entropy_alarm(double loss, double bound, int64_t tokens) {
  constexpr double chance_nats = 35;
  if (!(loss < bound - chance_nats / static_cast<double>(tokens))) return "";
  return fmt::format(
      "the validation loss, {:.4f}, is below the {:.4f} nats per token that the generated text holds: the model knows "
      "text or targets beforehand",
      loss, bound);
}

}  // namespace blockzoo
