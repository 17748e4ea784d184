// RegistryTable: the registry as a file of columns, mapped: a package is a number, in the order of
// names. Immutable.
//
// Format (docs/formats.md, "Registry"): common/content/patched_file.h without a patch; its payload
// is a header and columns, little-endian, each at a multiple of 8. Bytes are checked by column,
// when a column is first needed.
//
// Cost: Open O(1); Find O(log packages). Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/content/patched_file.h"
#include "director/registry/registry_row.h"

namespace galley::director {

class RegistryTable {
 public:
  using PackageNumber = uint32_t;

  // The state that the table is of: another journal or world is another state.
  struct Basis {
    std::string generation;  // JournalGeneration
    std::string world;       // of the project's files and rules
    std::string time;        // when the packages were listed, for people
    bool operator==(const Basis&) const = default;
  };

  // The bytes of a file with these rows, in any order. INVALID_ARGUMENT: a package twice, more than
  // kRegistryPlatformsMax platforms, or more than the format holds.
  static absl::StatusOr<std::string> Encode(const Basis& basis,
                                            const std::vector<std::string>& platforms,
                                            std::vector<RegistryRow> rows);
  // Errors as PatchedFile::Open.
  static absl::StatusOr<std::shared_ptr<const RegistryTable>> Open(const std::string& file);
  static absl::StatusOr<std::shared_ptr<const RegistryTable>> FromBytes(std::string bytes);

  const Basis& basis() const { return basis_; }
  const std::vector<std::string>& platforms() const { return platforms_; }
  size_t size() const { return packages_; }

  // The columns that can be needed.
  enum class Part : uint8_t {
    kNames,
    kFacts,  // classes, flags, masks
    kSizes,
    kEdges,
    kUsers,
    kTags,
    kOutputs,
    kReasons,
  };
  static constexpr size_t kParts = 8;
  // Checks the bytes. DATA_LOSS: some are wrong. REQUIRES, for all functions below: their part was
  // checked.
  absl::Status Need(Part part) const;
  // DATA_LOSS: a function met what no Encode writes; its answer is wrong.
  absl::Status Status() const { return file_->Status(); }

  // kNames
  std::string_view NameOf(PackageNumber package) const;
  std::optional<PackageNumber> Find(std::string_view name) const;
  // The first package whose name is not below `text`, as in std::lower_bound.
  PackageNumber LowerBound(std::string_view text) const;

  // kFacts
  std::string_view ClassOf(PackageNumber package) const;
  std::optional<uint32_t> FindClass(std::string_view name) const;
  std::span<const uint16_t> classes() const { return classes_; }  // numbers, by package
  bool IsNever(PackageNumber package) const { return (flags_[package] & kNever) != 0; }
  bool IsGenerated(PackageNumber package) const { return (flags_[package] & kGenerated) != 0; }
  bool IsBroken(PackageNumber package) const { return (flags_[package] & kBroken) != 0; }
  PlatformMask KnownOf(PackageNumber package) const { return known_[package]; }
  PlatformMask InCookOf(PackageNumber package) const { return in_cook_[package]; }
  PlatformMask FailedOf(PackageNumber package) const { return failed_[package]; }

  // kSizes: in bytes. `platform`: its number.
  uint64_t SourceSizeOf(PackageNumber package) const { return source_sizes_[package]; }
  uint64_t CookedSizeOf(PackageNumber package, size_t platform) const {
    return cooked_sizes_[platform * packages_ + package];
  }

  // kEdges, kUsers
  struct Edge {
    uint32_t other;  // a package
    uint32_t label;
  };
  std::span<const Edge> EdgesOf(PackageNumber package) const;  // by `other`, then by label
  std::span<const Edge> UsersOf(PackageNumber package) const;  // likewise
  struct Label {
    EdgeKind kind;
    PlatformMask platforms;
    auto operator<=>(const Label&) const = default;
  };
  const std::vector<Label>& labels() const { return labels_; }

  // kTags, kOutputs, kReasons
  std::vector<RegistryRow::Tag> TagsOf(PackageNumber package) const;
  std::vector<RegistryRow::Output> OutputsOf(PackageNumber package) const;
  std::vector<RegistryRow::Reason> ReasonsOf(PackageNumber package) const;
  bool IsRoot(PackageNumber package) const;  // one of its reasons is a root cause

  // Tags without copies. `name`: a number of FindTagName.
  struct RawTag {
    uint32_t name;
    PlatformMask platforms;
    uint32_t type;   // 1 a number, 2 a bool, 3 a text
    uint32_t bytes;  // of a text
    uint64_t value;  // the bits of a double; 0 or 1; where the text begins
  };
  std::optional<uint32_t> FindTagName(std::string_view name) const;
  std::span<const RawTag> RawTagsOf(PackageNumber package) const;
  std::string_view TextOf(const RawTag& tag) const;

 private:
  static constexpr uint8_t kNever = 1, kGenerated = 2, kBroken = 4;
  static constexpr uint32_t kNobody = UINT32_MAX;

  struct RawOutput {
    uint32_t suffix;
    uint32_t platform;
    uint64_t size;
  };
  struct RawReason {
    uint32_t referencer;  // kNobody: a root cause
    uint32_t category;
  };
  struct Header;
  class Encoder;

  static absl::StatusOr<std::shared_ptr<const RegistryTable>> Of(
      std::unique_ptr<content::PatchedFile> file);
  absl::Status ReadHead();
  absl::Status ReadLists(uint64_t at, uint64_t size);
  template <typename T>
  std::span<const T> Column(uint64_t count, Part part);
  template <typename T>
  std::span<const T> Slice(std::span<const uint32_t> ends, std::span<const T> all,
                           PackageNumber package) const;

  std::unique_ptr<content::PatchedFile> file_;
  Basis basis_;
  std::vector<std::string> platforms_, class_names_, tag_names_, suffixes_;
  std::vector<Label> labels_;
  size_t packages_ = 0;
  uint64_t laid_ = 0;  // while the columns are laid out: where the next one begins
  struct Extent {
    uint64_t begin = 0, end = 0;
  };
  std::array<Extent, kParts> extents_;
  mutable std::array<std::atomic<bool>, kParts> checked_{};

  std::span<const uint32_t> name_ends_;
  std::span<const char> names_;
  std::span<const uint16_t> classes_;
  std::span<const uint8_t> flags_;
  std::span<const PlatformMask> known_, in_cook_, failed_;
  std::span<const uint64_t> source_sizes_, cooked_sizes_;
  std::span<const uint32_t> edge_ends_, user_ends_, tag_ends_, output_ends_, reason_ends_;
  std::span<const Edge> edges_, users_;
  std::span<const RawTag> tags_;
  std::span<const char> texts_;
  std::span<const RawOutput> outputs_;
  std::span<const RawReason> reasons_;
};

}  // namespace galley::director
