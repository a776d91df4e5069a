#include "blockzoo/lab/tensorboard.h"

#include <boost/crc.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "blockzoo/hub/atomic_file.h"

// An event file is a row of records (length, checksum, bytes, checksum) of protocol buffers of TensorFlow's type Event,
// of which fields 1 (wall time), 2 (step), 3 (file version) and 5 (summary) are used here.

namespace blockzoo {
namespace {

template <class T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(0x80 | (value & 0x7f));
  return bytes + static_cast<char>(value);
}

// Fields of a protocol buffer: number, and how it is stored (0 varint, 1 eight bytes, 2 with its length, 5 four bytes).
std::string key(int number, int wire) { return varint(static_cast<uint64_t>(number << 3 | wire)); }
std::string field(int number, double value) { return key(number, 1) + little_endian(value); }
std::string field(int number, float value) { return key(number, 5) + little_endian(value); }
std::string field(int number, int64_t value) { return key(number, 0) + varint(static_cast<uint64_t>(value)); }
std::string field(int number, const std::string& bytes) { return key(number, 2) + varint(bytes.size()) + bytes; }

/// CRC-32C, rotated and shifted as TensorFlow's records want it.
uint32_t masked_checksum(const std::string& bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  const uint32_t sum = crc.checksum();
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8U;
}

std::string record(const std::string& bytes) {
  const auto length = little_endian<uint64_t>(bytes.size());
  return length + little_endian(masked_checksum(length)) + bytes + little_endian(masked_checksum(bytes));
}

std::string scalars(const std::string& tag, const LossCurve& curve, const std::vector<double>& values) {
  std::string bytes;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const auto value = field(1, tag) + field(2, static_cast<float>(values[i]));
    const double wall_time = std::isfinite(curve.seconds[i]) ? curve.seconds[i] : 0;
    bytes += record(field(1, wall_time) + field(2, curve.steps[i]) + field(5, field(1, value)));
  }
  return bytes;
}

}  // namespace

void write_tensorboard(const std::filesystem::path& folder, const StudyFolder& study) {
  for (size_t i = 0; i < study.traces.size(); ++i) {
    const auto& history = study.traces[i].history;
    const auto events = scalars("train/loss", history.training, history.training.loss) +
                        scalars("train/gradient_norm", history.training, history.gradient_norm) +
                        scalars("validation/loss", history.validation, history.validation.loss);
    if (events.empty()) continue;
    const auto run = folder / study.study.runs[i].folder;
    std::filesystem::create_directories(run);
    write_file(run / "events.out.tfevents.0.blockzoo", record(field(3, std::string("brain.Event:2"))) + events);
  }
}

}  // namespace blockzoo
