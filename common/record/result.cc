#include "common/record/result.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/record/action.h"
#include "common/tree/plain_name.h"
#include "common/tree/wire_fields.h"

namespace galley::record {
namespace {

using tree::FieldTo;

constexpr std::string_view kProvenanceType = "type.googleapis.com/galley.v1.Provenance";
// A Timestamp's range: the years 1 to 9999.
// Source: https://protobuf.dev/reference/protobuf/google.protobuf/#timestamp
constexpr int64_t kSecondsMin = -62'135'596'800;
constexpr int64_t kSecondsMax = 253'402'300'799;

std::vector<Output> SortedBySuffix(std::vector<Output> outputs) {
  std::ranges::sort(outputs);
  return outputs;
}

std::string EncodeOutputFile(std::string_view path, const Digest& digest, bool is_executable,
                             std::string_view contents) {
  WireWriter writer;
  writer.Bytes(1, path);
  writer.Element(2, tree::EncodeDigest(digest));
  writer.Bool(4, is_executable);
  writer.Bytes(5, contents);
  return writer.Take();
}

std::string EncodeTime(absl::Time time) {
  const absl::Time clamped =
      std::clamp(time, absl::FromUnixSeconds(kSecondsMin), absl::FromUnixSeconds(kSecondsMax));
  const int64_t seconds = absl::ToUnixSeconds(clamped);  // rounds down
  WireWriter writer;
  writer.Varint(1, static_cast<uint64_t>(seconds));
  writer.Varint(
      2, static_cast<uint64_t>(absl::ToInt64Nanoseconds(clamped - absl::FromUnixSeconds(seconds))));
  return writer.Take();
}

absl::StatusOr<absl::Time> DecodeTime(std::string_view bytes) {
  uint64_t seconds_bits = 0, nanos = 0;
  RETURN_IF_ERROR(
      tree::ReadFields(bytes, FieldTo(1, "time", seconds_bits), FieldTo(2, "time", nanos)));
  const auto seconds = static_cast<int64_t>(seconds_bits);
  if (seconds < kSecondsMin || seconds > kSecondsMax || nanos > 999'999'999) {
    return absl::InvalidArgumentError("time is out of range");
  }
  return absl::FromUnixSeconds(seconds) + absl::Nanoseconds(static_cast<int64_t>(nanos));
}

uint64_t NanosecondsOf(absl::Duration duration) {
  return static_cast<uint64_t>(std::max<int64_t>(0, absl::ToInt64Nanoseconds(duration)));
}

std::string EncodeProvenance(const Provenance& provenance) {
  WireWriter writer;
  writer.Bytes(1, provenance.machine);
  writer.Bytes(2, provenance.identity);
  writer.Varint(3, NanosecondsOf(provenance.load_time));
  writer.Varint(4, NanosecondsOf(provenance.save_time));
  writer.Varint(5, provenance.memory_peak_bytes);
  writer.Bytes(9, provenance.received_from);
  if (provenance.weak_key != Digest()) writer.Element(10, tree::EncodeDigest(provenance.weak_key));
  if (provenance.taken != absl::InfinitePast()) writer.Element(11, EncodeTime(provenance.taken));
  return writer.Take();
}

std::string EncodeMetadata(const Provenance& provenance) {
  WireWriter any;
  any.Bytes(1, kProvenanceType);
  any.Bytes(2, EncodeProvenance(provenance));
  WireWriter writer;
  writer.Bytes(1, provenance.worker);
  writer.Element(3, EncodeTime(provenance.started));
  writer.Element(11, any.bytes());
  return writer.Take();
}

absl::Status DecodeProvenance(std::string_view bytes, Provenance& provenance) {
  const auto duration = [](uint64_t value) {
    return absl::Nanoseconds(static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)));
  };
  uint64_t load_ns = 0, save_ns = 0;
  std::optional<std::string_view> weak_key, taken;
  RETURN_IF_ERROR(tree::ReadFields(bytes, FieldTo(1, "machine", provenance.machine),
                                   FieldTo(2, "identity", provenance.identity),
                                   FieldTo(3, "load_ns", load_ns), FieldTo(4, "save_ns", save_ns),
                                   FieldTo(5, "memory_peak_bytes", provenance.memory_peak_bytes),
                                   FieldTo(9, "received_from", provenance.received_from),
                                   FieldTo(10, "weak_key", weak_key), FieldTo(11, "taken", taken)));
  provenance.load_time = duration(load_ns);
  provenance.save_time = duration(save_ns);
  if (weak_key) {
    ASSIGN_OR_RETURN(provenance.weak_key, tree::DecodeDigest(*weak_key));
  }
  if (taken) {
    ASSIGN_OR_RETURN(provenance.taken, DecodeTime(*taken));
  }
  return absl::OkStatus();
}

// An Any: read when it is a Provenance, skipped otherwise.
absl::Status DecodeAuxiliary(std::string_view bytes, Provenance& provenance) {
  std::string_view type, value;
  RETURN_IF_ERROR(tree::ReadFields(bytes, FieldTo(1, "auxiliary_metadata", type),
                                   FieldTo(2, "auxiliary_metadata", value)));
  return type == kProvenanceType ? DecodeProvenance(value, provenance) : absl::OkStatus();
}

absl::Status DecodeMetadata(std::string_view bytes, Provenance& provenance) {
  for (WireReader reader(bytes); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number != 1 && field.number != 3 && field.number != 11) continue;
    ASSIGN_OR_RETURN(const std::string_view value, tree::BytesOf(field, "execution_metadata"));
    if (field.number == 1) {
      provenance.worker = value;
    } else if (field.number == 3) {
      ASSIGN_OR_RETURN(provenance.started, DecodeTime(value));
    } else {
      RETURN_IF_ERROR(DecodeAuxiliary(value, provenance));
    }
  }
  return absl::OkStatus();
}

struct OutputFile {
  std::string_view path;
  std::optional<Digest> digest;
  bool is_executable = false;
  std::string_view contents;
};

absl::StatusOr<OutputFile> DecodeOutputFile(std::string_view bytes) {
  OutputFile file;
  RETURN_IF_ERROR(tree::ReadFields(
      bytes, FieldTo(1, "path", file.path), FieldTo(2, "digest", file.digest),
      FieldTo(4, "is_executable", file.is_executable), FieldTo(5, "contents", file.contents)));
  if (!file.digest) return InvalidArgumentError("output {} has no digest", file.path);
  return file;
}

absl::Status TakeDetails(const OutputFile& file, std::optional<Details>& details) {
  if (details) return InvalidArgumentError("{} is there twice", kDetailsPath);
  if (file.contents.empty()) {
    return FailedPreconditionError("{} is not inline; its bytes are blob {}", kDetailsPath,
                                   file.digest->ToString());
  }
  if (Digest::Of(file.contents) != *file.digest) {
    return InvalidArgumentError("{} is not what its digest says", kDetailsPath);
  }
  absl::StatusOr<Details> decoded = DecodeDetails(file.contents);
  if (!decoded.ok()) return Annotate(decoded.status(), kDetailsPath);
  details = *std::move(decoded);
  return absl::OkStatus();
}

absl::Status TakeOutput(const OutputFile& file, std::vector<Output>& outputs) {
  if (!file.path.starts_with(kOutputStem)) {
    return InvalidArgumentError("output {}: expected {} and a suffix, or {}", file.path,
                                kOutputStem, kDetailsPath);
  }
  const std::string_view suffix = file.path.substr(kOutputStem.size());
  if (absl::Status status = ValidateSuffix(suffix); !status.ok()) return Annotate(status, "output");
  outputs.push_back({std::string(suffix), *file.digest, file.is_executable});
  return absl::OkStatus();
}

// Reading: what is gathered while an ActionResult is read.
struct Reading {
  Result result;
  std::optional<Details> details;
  uint64_t exit_code = 0;
  std::string_view stderr_raw;
};

absl::Status DecodeField(const WireReader::Field& field, Reading& reading) {
  switch (field.number) {
    case 2: {
      ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, "output_files"));
      ASSIGN_OR_RETURN(const OutputFile file, DecodeOutputFile(bytes));
      return file.path == kDetailsPath ? TakeDetails(file, reading.details)
                                       : TakeOutput(file, reading.result.outputs);
    }
    case 3:
    case 10:
    case 11:
    case 12:
      return absl::InvalidArgumentError("a result has output files only, no folders or links");
    case 4: {
      ASSIGN_OR_RETURN(reading.exit_code, tree::VarintOf(field, "exit_code"));
      return absl::OkStatus();
    }
    case 7: {
      ASSIGN_OR_RETURN(reading.stderr_raw, tree::BytesOf(field, "stderr_raw"));
      return absl::OkStatus();
    }
    case 8: {
      ASSIGN_OR_RETURN(reading.result.log, tree::DigestOf(field, "stderr_digest"));
      return absl::OkStatus();
    }
    case 9: {
      ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, "execution_metadata"));
      return DecodeMetadata(bytes, reading.result.provenance);
    }
    default:
      return absl::OkStatus();  // another server may know more
  }
}

absl::StatusOr<Result> Finish(Reading reading) {
  Result& result = reading.result;
  if (!reading.details) return InvalidArgumentError("result has no {}", kDetailsPath);
  result.details = *std::move(reading.details);
  if (reading.exit_code > 2) {
    return InvalidArgumentError("exit code {}: expected 0 to 2",
                                static_cast<int32_t>(reading.exit_code));
  }
  result.is_verdict = reading.exit_code != 0;
  result.is_disputed = reading.exit_code == 2;
  if (result.is_verdict) {
    if (!result.outputs.empty()) return absl::InvalidArgumentError("a verdict has no outputs");
    result.error = reading.stderr_raw;
  }
  std::ranges::sort(result.outputs);
  const auto twice = std::ranges::adjacent_find(
      result.outputs, [](const Output& a, const Output& b) { return a.suffix == b.suffix; });
  if (twice != result.outputs.end()) {
    return InvalidArgumentError("output \"{}\" is there twice", twice->suffix);
  }
  return std::move(result);
}

}  // namespace

std::string_view ReferenceKindName(ReferenceKind kind) {
  switch (kind) {
    case ReferenceKind::kHard:
      return "hard";
    case ReferenceKind::kSoft:
      return "soft";
    case ReferenceKind::kEditor:
      return "editor";
  }
  return "unknown";
}

absl::Status ValidateSuffix(std::string_view suffix) {
  if (suffix.empty()) return absl::OkStatus();
  const bool is_further = suffix.starts_with(kFurtherOutputs);
  const std::string_view name = is_further ? suffix.substr(kFurtherOutputs.size()) : suffix;
  const bool is_good = suffix.size() <= kSuffixBytesMax && tree::IsPlainPath(name) &&
                       (is_further || (suffix.front() == '.' && suffix != ".d" &&
                                       suffix.find('/') == std::string_view::npos));
  if (is_good) return absl::OkStatus();
  return InvalidArgumentError(
      "suffix \"{}\": expected nothing, .<extension>, or .d/<name> of plain segments, at most {} "
      "bytes",
      suffix.substr(0, 100), kSuffixBytesMax);
}

bool SameOutcome(const Result& a, const Result& b) {
  return SortedBySuffix(a.outputs) == SortedBySuffix(b.outputs) &&
         EncodeDetails(a.details) == EncodeDetails(b.details) && a.is_verdict == b.is_verdict &&
         a.is_disputed == b.is_disputed && a.error == b.error;
}

std::string EncodeResult(const Result& result) {
  WireWriter writer;
  const std::string details = EncodeDetails(result.details);
  writer.Element(2, EncodeOutputFile(kDetailsPath, Digest::Of(details), false, details));
  for (const Output& output : SortedBySuffix(result.outputs)) {
    writer.Element(2, EncodeOutputFile(std::string(kOutputStem) + output.suffix, output.digest,
                                       output.is_executable, ""));
  }
  writer.Varint(4, result.is_disputed ? 2 : result.is_verdict ? 1 : 0);
  if (result.is_verdict) writer.Bytes(7, result.error);
  if (result.log) writer.Element(8, tree::EncodeDigest(*result.log));
  writer.Element(9, EncodeMetadata(result.provenance));
  return writer.Take();
}

absl::StatusOr<Result> DecodeResult(std::string_view bytes) {
  if (bytes.size() > kResultBytesMax) {
    return InvalidArgumentError("result has {} bytes, at most {} are allowed", bytes.size(),
                                kResultBytesMax);
  }
  Reading reading;
  RETURN_IF_ERROR(tree::ForEachField(
      bytes, [&](const WireReader::Field& field) { return DecodeField(field, reading); }));
  return Finish(std::move(reading));
}

}  // namespace galley::record
