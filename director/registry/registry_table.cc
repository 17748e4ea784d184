#include "director/registry/registry_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::director {
namespace {

constexpr std::string_view kMagic = "GLYREGI1";
constexpr uint64_t kAlign = 8;

uint64_t Aligned(uint64_t at) { return (at + kAlign - 1) / kAlign * kAlign; }

absl::Status Wrong(std::string_view what) {
  return InvalidArgumentError("no table of a registry: {}", what);
}

template <typename T>
void Append(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
void AppendText(std::string& bytes, std::string_view text) {
  Append(bytes, static_cast<uint64_t>(text.size()));
  bytes.append(text);
}
void AppendTexts(std::string& bytes, const std::vector<std::string>& texts) {
  Append(bytes, static_cast<uint64_t>(texts.size()));
  for (const std::string& text : texts) AppendText(bytes, text);
}

// HeadReader: reads what the functions above wrote.
class HeadReader {
 public:
  explicit HeadReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  bool Read(T& value) {
    if (bytes_.size() < sizeof(value)) return false;
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return true;
  }
  bool ReadText(std::string& text) {
    uint64_t size = 0;
    if (!Read(size) || size > bytes_.size()) return false;
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }
  bool ReadTexts(std::vector<std::string>& texts) {
    uint64_t count = 0;
    if (!Read(count) || count > bytes_.size()) return false;
    texts.resize(count);
    return std::ranges::all_of(texts, [&](std::string& text) { return ReadText(text); });
  }

 private:
  std::string_view bytes_;
};

// Numbers: numbers for values, in the order in which they come.
template <typename T>
class Numbers {
 public:
  uint32_t Of(const T& value) {
    const auto [at, is_new] = numbers_.emplace(value, static_cast<uint32_t>(values_.size()));
    if (is_new) values_.push_back(value);
    return at->second;
  }
  const std::vector<T>& values() const { return values_; }

 private:
  std::map<T, uint32_t> numbers_;
  std::vector<T> values_;
};

std::optional<uint32_t> NumberOf(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<uint32_t>(found - names.begin());
}

}  // namespace

struct RegistryTable::Header {
  uint64_t head_bytes;
  uint64_t packages, names_bytes, edges, tags, texts_bytes, outputs, reasons;
};

// Encoder: the columns of rows that are sorted by name.
class RegistryTable::Encoder {
 public:
  Encoder(size_t platforms, const std::vector<RegistryRow>& rows) : rows_(rows) {
    numbers_.reserve(rows.size());
    for (const RegistryRow& row : rows)
      numbers_.emplace(row.package, static_cast<uint32_t>(numbers_.size()));
    cooked_sizes_.resize(platforms * rows.size());
  }

  absl::StatusOr<std::string> Encode(const Basis& basis,
                                     const std::vector<std::string>& platforms) {
    for (size_t i = 0; i < rows_.size(); ++i) RETURN_IF_ERROR(Add(i));
    SortEdges();
    std::string head;
    AppendText(head, basis.generation);
    AppendText(head, basis.world);
    AppendText(head, basis.time);
    AppendTexts(head, platforms);
    AppendTexts(head, classes_.values());
    AppendTexts(head, tag_names_.values());
    AppendTexts(head, suffixes_.values());
    Append(head, static_cast<uint64_t>(labels_.values().size()));
    for (const Label& label : labels_.values()) {
      Append(head, static_cast<uint32_t>(label.kind));
      Append(head, label.platforms);
    }
    if (names_.size() > UINT32_MAX || edges_.size() > UINT32_MAX || tags_.size() > UINT32_MAX ||
        outputs_.size() > UINT32_MAX || reasons_.size() > UINT32_MAX)
      return Wrong("there is more than it holds");
    std::string payload;
    Append(payload, Header{.head_bytes = head.size(),
                           .packages = rows_.size(),
                           .names_bytes = names_.size(),
                           .edges = edges_.size(),
                           .tags = tags_.size(),
                           .texts_bytes = texts_.size(),
                           .outputs = outputs_.size(),
                           .reasons = reasons_.size()});
    payload.append(head);
    // In the order of RegistryTable::ReadHead.
    Put(payload, name_ends_);
    Put(payload, names_);
    Put(payload, class_numbers_);
    Put(payload, flags_);
    Put(payload, known_);
    Put(payload, in_cook_);
    Put(payload, failed_);
    Put(payload, source_sizes_);
    Put(payload, cooked_sizes_);
    Put(payload, edge_ends_);
    Put(payload, edges_);
    Put(payload, user_ends_);
    Put(payload, users_);
    Put(payload, tag_ends_);
    Put(payload, tags_);
    Put(payload, texts_);
    Put(payload, output_ends_);
    Put(payload, outputs_);
    Put(payload, reason_ends_);
    Put(payload, reasons_);
    return content::PatchedFile::Seal(kMagic, payload);
  }

 private:
  template <typename T>
  static void Put(std::string& payload, const T& column) {
    payload.resize(Aligned(payload.size()));
    payload.append(reinterpret_cast<const char*>(column.data()),
                   column.size() * sizeof(*column.data()));
  }
  template <typename T>
  static uint32_t EndOf(const T& column) {
    return static_cast<uint32_t>(column.size());
  }

  absl::Status Add(size_t number) {
    const RegistryRow& row = rows_[number];
    if (number > 0 && rows_[number - 1].package == row.package)
      return Wrong(row.package + " is there twice");
    names_ += row.package;
    name_ends_.push_back(EndOf(names_));
    const uint32_t class_number = classes_.Of(row.cooker);
    if (class_number > UINT16_MAX) return Wrong("there are too many classes");
    class_numbers_.push_back(static_cast<uint16_t>(class_number));
    flags_.push_back(static_cast<uint8_t>((row.is_never ? kNever : 0) |
                                          (row.is_generated ? kGenerated : 0) |
                                          (row.is_broken ? kBroken : 0)));
    known_.push_back(row.known);
    in_cook_.push_back(row.in_cook);
    failed_.push_back(row.failed);
    source_sizes_.push_back(row.source_size);
    for (const RegistryRow::Edge& edge : row.edges) {
      const auto target = numbers_.find(edge.target);
      if (target == numbers_.end()) continue;
      edges_.push_back({target->second, labels_.Of({edge.kind, edge.platforms})});
    }
    edge_ends_.push_back(EndOf(edges_));
    for (const RegistryRow::Tag& tag : row.tags) tags_.push_back(RawOf(tag));
    tag_ends_.push_back(EndOf(tags_));
    for (const RegistryRow::Output& output : row.outputs) {
      outputs_.push_back({suffixes_.Of(output.suffix), output.platform, output.size});
      cooked_sizes_[output.platform * rows_.size() + number] += output.size;
    }
    output_ends_.push_back(EndOf(outputs_));
    for (const RegistryRow::Reason& reason : row.reasons) {
      const auto referencer = numbers_.find(reason.referencer);
      const bool is_known = !reason.referencer.empty() && referencer != numbers_.end();
      if (!is_known && !reason.referencer.empty()) continue;  // who is gone is no reason
      reasons_.push_back({is_known ? referencer->second : kNobody, reason.category});
    }
    reason_ends_.push_back(EndOf(reasons_));
    return absl::OkStatus();
  }

  RawTag RawOf(const RegistryRow::Tag& tag) {
    RawTag raw{.name = tag_names_.Of(tag.name),
               .platforms = tag.platforms,
               .type = 0,
               .bytes = 0,
               .value = 0};
    if (const auto* const number = std::get_if<double>(&tag.value)) {
      raw.type = 1;
      raw.value = std::bit_cast<uint64_t>(*number);
    } else if (const auto* const is_true = std::get_if<bool>(&tag.value)) {
      raw.type = 2;
      raw.value = *is_true ? 1 : 0;
    } else {
      const auto& text = std::get<std::string>(tag.value);
      raw.type = 3;
      raw.bytes = static_cast<uint32_t>(text.size());
      raw.value = texts_.size();
      texts_ += text;
    }
    return raw;
  }

  // Sorts each package's edges by number; then those of the other direction come out sorted.
  void SortEdges() {
    std::vector<uint32_t> counts(rows_.size() + 1);
    uint32_t begin = 0;
    for (const uint32_t end : edge_ends_) {
      std::sort(edges_.begin() + begin, edges_.begin() + end, [](const Edge& a, const Edge& b) {
        return a.other != b.other ? a.other < b.other : a.label < b.label;
      });
      for (uint32_t i = begin; i < end; ++i) ++counts[edges_[i].other + 1];
      begin = end;
    }
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
    user_ends_.assign(counts.begin() + 1, counts.end());
    users_.resize(edges_.size());
    begin = 0;
    for (uint32_t package = 0; package < rows_.size(); ++package) {
      for (uint32_t i = begin; i < edge_ends_[package]; ++i)
        users_[counts[edges_[i].other]++] = {package, edges_[i].label};
      begin = edge_ends_[package];
    }
  }

  const std::vector<RegistryRow>& rows_;
  absl::flat_hash_map<std::string_view, uint32_t> numbers_;
  Numbers<std::string> classes_, tag_names_, suffixes_;
  Numbers<Label> labels_;
  std::string names_, texts_;
  std::vector<uint32_t> name_ends_, edge_ends_, user_ends_, tag_ends_, output_ends_, reason_ends_;
  std::vector<uint16_t> class_numbers_;
  std::vector<uint8_t> flags_;
  std::vector<PlatformMask> known_, in_cook_, failed_;
  std::vector<uint64_t> source_sizes_, cooked_sizes_;
  std::vector<Edge> edges_, users_;
  std::vector<RawTag> tags_;
  std::vector<RawOutput> outputs_;
  std::vector<RawReason> reasons_;
};

absl::StatusOr<std::string> RegistryTable::Encode(const Basis& basis,
                                                  const std::vector<std::string>& platforms,
                                                  std::vector<RegistryRow> rows) {
  if (platforms.size() > kRegistryPlatformsMax) return Wrong("there are too many platforms");
  if (rows.size() >= kNobody) return Wrong("there are too many packages");
  std::ranges::sort(rows, {}, &RegistryRow::package);
  for (const RegistryRow& row : rows) {
    const auto is_known = [&](const auto& output) { return output.platform < platforms.size(); };
    GALLEY_CHECK(std::ranges::all_of(row.outputs, is_known));
  }
  return Encoder(platforms.size(), rows).Encode(basis, platforms);
}

absl::StatusOr<std::shared_ptr<const RegistryTable>> RegistryTable::Open(const std::string& file) {
  ASSIGN_OR_RETURN(auto opened, content::PatchedFile::Open(file, kMagic));
  return Of(std::move(opened));
}

absl::StatusOr<std::shared_ptr<const RegistryTable>> RegistryTable::FromBytes(std::string bytes) {
  ASSIGN_OR_RETURN(auto opened, content::PatchedFile::FromBytes(std::move(bytes), kMagic));
  return Of(std::move(opened));
}

absl::StatusOr<std::shared_ptr<const RegistryTable>> RegistryTable::Of(
    std::unique_ptr<content::PatchedFile> file) {
  const std::shared_ptr<RegistryTable> table(new RegistryTable);
  table->file_ = std::move(file);
  RETURN_IF_ERROR(table->ReadHead());
  return table;
}

absl::Status RegistryTable::ReadHead() {
  Header header{};
  const char* const bytes = file_->At(0, sizeof(header));
  if (bytes == nullptr) return Wrong("its header cannot be read");
  std::memcpy(&header, bytes, sizeof(header));
  RETURN_IF_ERROR(ReadLists(sizeof(header), header.head_bytes));
  // So no product below overflows.
  for (const uint64_t count : {header.packages, header.names_bytes, header.edges, header.tags,
                               header.texts_bytes, header.outputs, header.reasons}) {
    if (count > file_->size()) return Wrong("its counts are wrong");
  }
  packages_ = header.packages;
  laid_ = sizeof(header) + header.head_bytes;
  name_ends_ = Column<uint32_t>(packages_, Part::kNames);
  names_ = Column<char>(header.names_bytes, Part::kNames);
  classes_ = Column<uint16_t>(packages_, Part::kFacts);
  flags_ = Column<uint8_t>(packages_, Part::kFacts);
  known_ = Column<PlatformMask>(packages_, Part::kFacts);
  in_cook_ = Column<PlatformMask>(packages_, Part::kFacts);
  failed_ = Column<PlatformMask>(packages_, Part::kFacts);
  source_sizes_ = Column<uint64_t>(packages_, Part::kSizes);
  cooked_sizes_ = Column<uint64_t>(packages_ * platforms_.size(), Part::kSizes);
  edge_ends_ = Column<uint32_t>(packages_, Part::kEdges);
  edges_ = Column<Edge>(header.edges, Part::kEdges);
  user_ends_ = Column<uint32_t>(packages_, Part::kUsers);
  users_ = Column<Edge>(header.edges, Part::kUsers);
  tag_ends_ = Column<uint32_t>(packages_, Part::kTags);
  tags_ = Column<RawTag>(header.tags, Part::kTags);
  texts_ = Column<char>(header.texts_bytes, Part::kTags);
  output_ends_ = Column<uint32_t>(packages_, Part::kOutputs);
  outputs_ = Column<RawOutput>(header.outputs, Part::kOutputs);
  reason_ends_ = Column<uint32_t>(packages_, Part::kReasons);
  reasons_ = Column<RawReason>(header.reasons, Part::kReasons);
  if (laid_ != file_->size()) return Wrong("its size is another one");
  return absl::OkStatus();
}

absl::Status RegistryTable::ReadLists(uint64_t at, uint64_t size) {
  const char* const bytes = file_->At(at, size);
  if (bytes == nullptr) return Wrong("its lists cannot be read");
  HeadReader reader({bytes, size});
  uint64_t labels = 0;
  const bool is_read = reader.ReadText(basis_.generation) && reader.ReadText(basis_.world) &&
                       reader.ReadText(basis_.time) && reader.ReadTexts(platforms_) &&
                       reader.ReadTexts(class_names_) && reader.ReadTexts(tag_names_) &&
                       reader.ReadTexts(suffixes_) && reader.Read(labels) && labels <= size;
  if (!is_read || platforms_.size() > kRegistryPlatformsMax) return Wrong("its lists are wrong");
  for (uint64_t i = 0; i < labels; ++i) {
    uint32_t kind = 0;
    PlatformMask platforms = 0;
    if (!reader.Read(kind) || !reader.Read(platforms) || kind == 0 || kind >= kEdgeKinds)
      return Wrong("its kinds of references are wrong");
    labels_.push_back({static_cast<EdgeKind>(kind), platforms});
  }
  return absl::OkStatus();
}

// Lays out the next column; beyond the end of the file it is empty, and ReadHead finds that out.
template <typename T>
std::span<const T> RegistryTable::Column(uint64_t count, Part part) {
  const uint64_t at = Aligned(laid_);
  laid_ = at + count * sizeof(T);
  Extent& extent = extents_[static_cast<size_t>(part)];
  if (extent.end == 0) extent.begin = at;
  extent.end = laid_;
  if (laid_ > file_->size()) return {};
  return {reinterpret_cast<const T*>(file_->begin() + at), count};
}

absl::Status RegistryTable::Need(Part part) const {
  std::atomic<bool>& is_checked = checked_[static_cast<size_t>(part)];
  if (is_checked.load(std::memory_order_acquire)) return absl::OkStatus();
  const Extent& extent = extents_[static_cast<size_t>(part)];
  if (file_->At(extent.begin, extent.end - extent.begin) == nullptr) return file_->Status();
  is_checked.store(true, std::memory_order_release);
  return absl::OkStatus();
}

template <typename T>
std::span<const T> RegistryTable::Slice(std::span<const uint32_t> ends, std::span<const T> all,
                                        PackageNumber package) const {
  const uint32_t begin = package == 0 ? 0 : ends[package - 1], end = ends[package];
  if (begin <= end && end <= all.size()) return all.subspan(begin, end - begin);
  file_->NoteDamage();
  return {};
}

std::string_view RegistryTable::NameOf(PackageNumber package) const {
  const std::span<const char> name = Slice(name_ends_, names_, package);
  return {name.data(), name.size()};
}

RegistryTable::PackageNumber RegistryTable::LowerBound(std::string_view text) const {
  PackageNumber begin = 0, count = static_cast<PackageNumber>(packages_);
  while (count > 0) {
    const PackageNumber half = count / 2;
    if (NameOf(begin + half) < text) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}

std::optional<RegistryTable::PackageNumber> RegistryTable::Find(std::string_view name) const {
  const PackageNumber at = LowerBound(name);
  if (at == packages_ || NameOf(at) != name) return std::nullopt;
  return at;
}

std::string_view RegistryTable::ClassOf(PackageNumber package) const {
  if (classes_[package] < class_names_.size()) return class_names_[classes_[package]];
  file_->NoteDamage();
  return {};
}

std::optional<uint32_t> RegistryTable::FindClass(std::string_view name) const {
  return NumberOf(class_names_, name);
}
std::optional<uint32_t> RegistryTable::FindTagName(std::string_view name) const {
  return NumberOf(tag_names_, name);
}

std::span<const RegistryTable::Edge> RegistryTable::EdgesOf(PackageNumber package) const {
  return Slice(edge_ends_, edges_, package);
}
std::span<const RegistryTable::Edge> RegistryTable::UsersOf(PackageNumber package) const {
  return Slice(user_ends_, users_, package);
}
std::span<const RegistryTable::RawTag> RegistryTable::RawTagsOf(PackageNumber package) const {
  return Slice(tag_ends_, tags_, package);
}

std::string_view RegistryTable::TextOf(const RawTag& tag) const {
  if (tag.value <= texts_.size() && tag.bytes <= texts_.size() - tag.value)
    return {texts_.data() + tag.value, tag.bytes};
  file_->NoteDamage();
  return {};
}

std::vector<RegistryRow::Tag> RegistryTable::TagsOf(PackageNumber package) const {
  std::vector<RegistryRow::Tag> tags;
  for (const RawTag& raw : RawTagsOf(package)) {
    if (raw.name >= tag_names_.size()) {
      file_->NoteDamage();
      continue;
    }
    RegistryRow::Tag tag{.name = tag_names_[raw.name], .value = false, .platforms = raw.platforms};
    if (raw.type == 1) tag.value = std::bit_cast<double>(raw.value);
    if (raw.type == 2) tag.value = raw.value != 0;
    if (raw.type == 3) tag.value = std::string(TextOf(raw));
    tags.push_back(std::move(tag));
  }
  return tags;
}

std::vector<RegistryRow::Output> RegistryTable::OutputsOf(PackageNumber package) const {
  std::vector<RegistryRow::Output> outputs;
  for (const RawOutput& raw : Slice(output_ends_, outputs_, package)) {
    if (raw.suffix < suffixes_.size() && raw.platform < platforms_.size()) {
      outputs.push_back(
          {.platform = raw.platform, .suffix = suffixes_[raw.suffix], .size = raw.size});
    } else {
      file_->NoteDamage();
    }
  }
  return outputs;
}

std::vector<RegistryRow::Reason> RegistryTable::ReasonsOf(PackageNumber package) const {
  std::vector<RegistryRow::Reason> reasons;
  for (const RawReason& raw : Slice(reason_ends_, reasons_, package)) {
    RegistryRow::Reason reason{.category = static_cast<uint8_t>(raw.category), .referencer = {}};
    if (raw.referencer < packages_) reason.referencer = NameOf(raw.referencer);
    if (raw.referencer >= packages_ && raw.referencer != kNobody) file_->NoteDamage();
    reasons.push_back(std::move(reason));
  }
  return reasons;
}

bool RegistryTable::IsRoot(PackageNumber package) const {
  return std::ranges::any_of(Slice(reason_ends_, reasons_, package),
                             [](const RawReason& reason) { return reason.referencer == kNobody; });
}

}  // namespace galley::director
