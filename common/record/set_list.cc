#include "common/record/set_list.h"

#include <fmt/format.h>

#include <optional>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/record/observation.h"
#include "common/tree/wire_fields.h"

namespace galley::record {
namespace {

using tree::FieldTo;

constexpr size_t kBesideASet = 8;  // its tag and its size

struct ListFile {
  std::string_view path;
  std::optional<Digest> digest;
  std::string_view contents;
};

absl::StatusOr<ListFile> DecodeFile(std::string_view bytes) {
  ListFile file;
  RETURN_IF_ERROR(tree::ReadFields(bytes, FieldTo(1, "path", file.path),
                                   FieldTo(2, "digest", file.digest),
                                   FieldTo(5, "contents", file.contents)));
  return file;
}

absl::StatusOr<std::vector<std::string>> DecodeList(std::string_view list) {
  std::vector<std::string> sets;
  for (WireReader reader(list); !reader.AtEnd() && sets.size() < kSetListCountMax;) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number != 1) continue;
    ASSIGN_OR_RETURN(const std::string_view set, tree::BytesOf(field, "set"));
    if (DecodeSet(set).ok()) sets.emplace_back(set);
  }
  return sets;
}

}  // namespace

SetListResult EncodeSetList(const std::vector<std::string>& sets) {
  WireWriter list;
  for (size_t i = 0; i < sets.size() && i < kSetListCountMax; ++i) {
    if (list.bytes().size() + sets[i].size() + kBesideASet > kSetListBytesMax) break;
    list.Element(1, sets[i]);
  }
  SetListResult result{.bytes = {}, .list = list.Take()};
  WireWriter file;
  file.Bytes(1, kSetListPath);
  file.Element(2, tree::EncodeDigest(Digest::Of(result.list)));
  file.Bytes(5, result.list);
  WireWriter metadata;
  metadata.Bytes(1, "galley");
  WireWriter writer;
  writer.Element(2, file.bytes());
  writer.Element(9, metadata.bytes());
  result.bytes = writer.Take();
  return result;
}

absl::StatusOr<std::vector<std::string>> DecodeSetList(std::string_view result,
                                                       const tree::ReadBlob& read) {
  for (WireReader reader(result); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number != 2) continue;
    ASSIGN_OR_RETURN(const std::string_view bytes, tree::BytesOf(field, "output_files"));
    ASSIGN_OR_RETURN(const ListFile file, DecodeFile(bytes));
    if (file.path != kSetListPath || !file.digest) continue;
    if (file.digest->size_bytes() > kSetListBytesMax) {
      return InvalidArgumentError("a list of observation sets of {} bytes, at most {} are allowed",
                                  file.digest->size_bytes(), kSetListBytesMax);
    }
    if (Digest::Of(file.contents) == *file.digest) return DecodeList(file.contents);
    ASSIGN_OR_RETURN(const Blob blob, read(*file.digest));
    return DecodeList(*blob);
  }
  return absl::InvalidArgumentError("the result names no observation sets");
}

}  // namespace galley::record
