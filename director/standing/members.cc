#include "director/standing/members.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kMembersMagic = "GLYMEMB2";
constexpr size_t kChunks = 1024;
constexpr size_t kPlatformsMax = 32;

struct Header {
  uint64_t platforms;
  uint64_t packages;
  uint64_t names_bytes;  // each ends with NUL; names of the platforms come first
};
static_assert(sizeof(Header) == 24);

struct Chunk {
  uint64_t end;  // the number of its last package, plus 1
  uint8_t digest[Digest::kHashSize];
};
static_assert(sizeof(Chunk) == 40);

struct Record {
  uint32_t name;
  uint32_t name_bytes;
  uint32_t roots;
  uint32_t done;  // a bit for each platform that has a key
};
static_assert(sizeof(Record) == 16);

struct Key {
  uint8_t hash[Digest::kHashSize];
  uint64_t size_bytes;
};
static_assert(sizeof(Key) == 40);

size_t ChunkOf(std::string_view package) {
  return XXH3_64bits(package.data(), package.size()) % kChunks;
}

void AddLine(std::string& text, std::string_view package, std::string_view platform,
             const Digest& key) {
  fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\n", package, platform, key.ToString());
}

// Hashes the texts of the chunks' hashes.
Digest DigestOfChunks(const std::array<std::string, kChunks>& hashes) {
  static const Digest kNothing = Digest::Of("");
  std::string all;
  bool is_empty = true;
  for (const std::string& hash : hashes) {
    is_empty = is_empty && hash == kNothing.hash();
    all += hash;
  }
  return is_empty ? kNothing : Digest::Of(all);
}

template <typename T>
void Append(std::string& bytes, const T& record) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&record), sizeof(record));
}

template <typename T>
std::string RawOf(const T& record) {
  std::string bytes;
  Append(bytes, record);
  return bytes;
}

Key KeyOf(const std::optional<Digest>& digest) {
  Key key{};
  if (!digest) return key;
  std::memcpy(key.hash, digest->hash().data(), sizeof(key.hash));
  key.size_bytes = digest->size_bytes();
  return key;
}

Record RecordOf(const Member& member) {
  Record record{.name = 0,
                .name_bytes = static_cast<uint32_t>(member.package.size()),
                .roots = member.roots,
                .done = 0};
  for (size_t p = 0; p < member.keys.size(); ++p) record.done |= member.keys[p] ? 1u << p : 0;
  return record;
}

}  // namespace

Digest DigestOfDone(const DoneKeys& done) {
  std::array<std::string, kChunks> chunks;
  for (const auto& [where, key] : done)
    AddLine(chunks[ChunkOf(where.first)], where.first, where.second, key);
  for (std::string& chunk : chunks) chunk = std::string(Digest::Of(chunk).hash());
  return DigestOfChunks(chunks);
}

MembersFile EncodeMembers(const std::vector<std::string>& platforms, std::vector<Member> members) {
  GALLEY_CHECK(platforms.size() <= kPlatformsMax);
  std::vector<std::vector<const Member*>> chunks(kChunks);
  for (Member& member : members) {
    member.keys.resize(platforms.size());
    chunks[ChunkOf(member.package)].push_back(&member);
  }
  std::string names, records, keys, heads;
  for (const std::string& platform : platforms) names.append(platform).push_back('\0');
  std::vector<size_t> by_name(platforms.size());
  for (size_t p = 0; p < by_name.size(); ++p) by_name[p] = p;
  std::ranges::sort(by_name, [&](size_t a, size_t b) { return platforms[a] < platforms[b]; });
  uint64_t end = 0;
  std::array<std::string, kChunks> hashes;
  for (size_t c = 0; c < kChunks; ++c) {
    std::vector<const Member*>& chunk = chunks[c];
    std::ranges::sort(chunk,
                      [](const Member* a, const Member* b) { return a->package < b->package; });
    std::string text;
    for (const Member* member : chunk) {
      Record record = RecordOf(*member);
      record.name = static_cast<uint32_t>(names.size());
      names.append(member->package).push_back('\0');
      Append(records, record);
      for (const std::optional<Digest>& key : member->keys) Append(keys, KeyOf(key));
      for (const size_t p : by_name) {
        if (member->keys[p]) AddLine(text, member->package, platforms[p], *member->keys[p]);
      }
    }
    end += chunk.size();
    Chunk head{.end = end, .digest = {}};
    hashes[c] = std::string(Digest::Of(text).hash());
    std::memcpy(head.digest, hashes[c].data(), sizeof(head.digest));
    Append(heads, head);
  }
  Header header{
      .platforms = platforms.size(), .packages = members.size(), .names_bytes = names.size()};
  std::string bytes;
  bytes.reserve(sizeof(header) + heads.size() + keys.size() + records.size() + names.size());
  Append(bytes, header);
  bytes.append(heads).append(keys).append(records).append(names);
  return {content::PatchedFile::Seal(kMembersMagic, bytes), DigestOfChunks(hashes)};
}

// Mapping: the mapped file, which was found to be consistent.
class Members::Mapping {
 public:
  explicit Mapping(std::unique_ptr<content::PatchedFile> file)
      : file_(std::move(file)), bytes_(file_->begin(), file_->size()) {}

  absl::Status Judge() {
    const absl::Status wrong = absl::InvalidArgumentError("a record points out of it");
    if (bytes_.size() < sizeof(Header)) return absl::InvalidArgumentError("it is cut off");
    if (!file_->Verify().ok()) return absl::InvalidArgumentError("its checksum is wrong");
    std::memcpy(&header_, bytes_.data(), sizeof(Header));
    if (header_.platforms > kPlatformsMax || header_.packages > UINT32_MAX ||
        header_.names_bytes > UINT32_MAX)
      return absl::InvalidArgumentError("it is no table of members");
    keys_at_ = sizeof(Header) + kChunks * sizeof(Chunk);
    records_at_ = keys_at_ + header_.packages * header_.platforms * sizeof(Key);
    names_at_ = records_at_ + header_.packages * sizeof(Record);
    if (names_at_ + header_.names_bytes != bytes_.size())
      return absl::InvalidArgumentError("its parts do not fill it");
    uint64_t last = 0;
    for (size_t c = 0; c < kChunks; ++c) {
      if (chunk(c).end < last || chunk(c).end > header_.packages) return wrong;
      last = chunk(c).end;
    }
    if (last != header_.packages) return wrong;
    for (size_t i = 0; i < header_.packages; ++i) {
      if (record(i).name > header_.names_bytes ||
          record(i).name_bytes > header_.names_bytes - record(i).name)
        return wrong;
    }
    std::string_view names = bytes_.substr(names_at_);
    for (size_t p = 0; p < header_.platforms; ++p) {
      const size_t end = names.find('\0');
      if (end == std::string_view::npos) return wrong;
      platforms_.emplace_back(names.substr(0, end));
      names.remove_prefix(end + 1);
    }
    return absl::OkStatus();
  }

  const content::PatchedFile& file() const { return *file_; }
  const std::vector<std::string>& platforms() const { return platforms_; }
  size_t packages() const { return header_.packages; }
  const Chunk& chunk(size_t i) const { return At<Chunk>(sizeof(Header), i); }
  const Record& record(size_t i) const { return At<Record>(records_at_, i); }
  const Key& key(size_t i, size_t platform) const {
    return At<Key>(keys_at_, i * platforms_.size() + platform);
  }
  std::string_view name(size_t i) const {
    return bytes_.substr(names_at_ + record(i).name, record(i).name_bytes);
  }
  std::pair<size_t, size_t> RangeOf(size_t c) const {
    return {c == 0 ? 0 : chunk(c - 1).end, chunk(c).end};
  }

  std::optional<size_t> Find(std::string_view package) const {
    auto [begin, end] = RangeOf(ChunkOf(package));
    while (begin < end) {
      const size_t middle = begin + (end - begin) / 2;
      if (name(middle) < package) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    if (begin >= packages() || name(begin) != package) return std::nullopt;
    return begin;
  }

  Member MemberAt(size_t i) const {
    Member member{.package = std::string(name(i)), .roots = record(i).roots, .keys = {}};
    for (size_t p = 0; p < platforms_.size(); ++p) {
      member.keys.emplace_back();
      if ((record(i).done >> p & 1) == 0) continue;
      const Key& stored = key(i, p);
      auto digest = Digest::FromHash(
          {reinterpret_cast<const char*>(stored.hash), sizeof(stored.hash)}, stored.size_bytes);
      if (digest.ok()) member.keys.back() = *digest;
    }
    return member;
  }

  uint64_t OffsetOf(const void* record) const {
    return static_cast<uint64_t>(static_cast<const char*>(record) - bytes_.data());
  }

 private:
  // Except for the records of 16 bytes, everything begins at a multiple of eight bytes, as the
  // mapping does.
  template <typename T>
  const T& At(size_t begin, size_t i) const {
    return *reinterpret_cast<const T*>(bytes_.data() + begin + i * sizeof(T));
  }

  const std::unique_ptr<content::PatchedFile> file_;
  const std::string_view bytes_;
  Header header_{};
  std::vector<std::string> platforms_;
  size_t keys_at_ = 0, records_at_ = 0, names_at_ = 0;
};

Members::Members(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
Members::Members(Members&&) noexcept = default;
Members& Members::operator=(Members&&) noexcept = default;
Members::~Members() = default;

absl::StatusOr<Members> Members::Of(std::unique_ptr<content::PatchedFile> file) {
  auto mapping = std::make_unique<Mapping>(std::move(file));
  RETURN_IF_ERROR(mapping->Judge());
  return Members(std::move(mapping));
}

absl::StatusOr<Members> Members::Open(const std::string& file) {
  ASSIGN_OR_RETURN(std::unique_ptr<content::PatchedFile> opened,
                   content::PatchedFile::Open(file, kMembersMagic));
  return Of(std::move(opened));
}

absl::StatusOr<Members> Members::FromBytes(std::string bytes) {
  ASSIGN_OR_RETURN(std::unique_ptr<content::PatchedFile> opened,
                   content::PatchedFile::FromBytes(std::move(bytes), kMembersMagic));
  return Of(std::move(opened));
}

std::string Members::id() const { return mapping_->file().id(); }
const std::vector<std::string>& Members::platforms() const { return mapping_->platforms(); }
size_t Members::size() const { return mapping_->packages(); }

std::optional<Member> Members::Find(std::string_view package) const {
  const std::optional<size_t> at = mapping_->Find(package);
  return at ? std::optional(mapping_->MemberAt(*at)) : std::nullopt;
}

uint32_t Members::RootsOf(std::string_view package) const {
  const std::optional<size_t> at = mapping_->Find(package);
  return at ? mapping_->record(*at).roots : 0;
}

std::vector<std::string_view> Members::Names() const {
  std::vector<std::string_view> names;
  names.reserve(size());
  for (size_t i = 0; i < size(); ++i) names.push_back(mapping_->name(i));
  return names;
}

std::vector<Digest> Members::Keys() const {
  std::vector<Digest> keys;
  for (size_t i = 0; i < size(); ++i) {
    for (const std::optional<Digest>& key : mapping_->MemberAt(i).keys) {
      if (key) keys.push_back(*key);
    }
  }
  return keys;
}

Digest Members::snapshot() const { return SnapshotWith({}); }

// `digests`: the new digests of changed chunks.
Digest Members::SnapshotWith(const std::map<size_t, Digest>& digests) const {
  std::array<std::string, kChunks> hashes;
  for (size_t c = 0; c < kChunks; ++c) {
    const auto other = digests.find(c);
    const auto* const hash = reinterpret_cast<const char*>(mapping_->chunk(c).digest);
    hashes[c] = other != digests.end() ? std::string(other->second.hash())
                                       : std::string(hash, Digest::kHashSize);
  }
  return DigestOfChunks(hashes);
}

MembersFile Members::With(const std::vector<Member>& changed,
                          const std::set<std::string, std::less<>>& gone) const {
  const auto is_known = [&](const Member& one) { return mapping_->Find(one.package).has_value(); };
  if (!gone.empty() || !std::ranges::all_of(changed, is_known)) {
    std::map<std::string_view, const Member*> replaced;
    for (const Member& one : changed) replaced[one.package] = &one;
    std::vector<Member> all = changed;
    for (size_t i = 0; i < size(); ++i) {
      const std::string_view name = mapping_->name(i);
      if (!replaced.contains(name) && !gone.contains(name)) all.push_back(mapping_->MemberAt(i));
    }
    return EncodeMembers(platforms(), std::move(all));
  }
  content::PatchedFile::Ranges ranges;
  std::map<size_t, Digest> digests;
  std::map<size_t, std::map<size_t, const Member*>> by_chunk;
  for (const Member& one : changed)
    by_chunk[ChunkOf(one.package)][*mapping_->Find(one.package)] = &one;
  std::vector<std::string> sorted = platforms();
  std::ranges::sort(sorted);
  for (const auto& [c, members] : by_chunk) {
    std::map<std::pair<std::string, std::string>, Digest> done;
    const auto [begin, end] = mapping_->RangeOf(c);
    for (size_t i = begin; i < end; ++i) {
      const auto other = members.find(i);
      const Member member = other == members.end() ? mapping_->MemberAt(i) : *other->second;
      for (size_t p = 0; p < platforms().size() && p < member.keys.size(); ++p) {
        if (member.keys[p])
          done.emplace(std::pair(member.package, platforms()[p]), *member.keys[p]);
      }
    }
    std::string text;
    for (const auto& [where, key] : done) AddLine(text, where.first, where.second, key);
    const Digest digest = Digest::Of(text);
    ranges[mapping_->OffsetOf(mapping_->chunk(c).digest)] = digest.hash();
    digests.emplace(c, digest);
    for (const auto& [i, member] : members) {
      Record record = RecordOf(*member);
      record.name = mapping_->record(i).name;
      ranges[mapping_->OffsetOf(&mapping_->record(i))] = RawOf(record);
      for (size_t p = 0; p < platforms().size(); ++p) {
        const Key key = KeyOf(p < member->keys.size() ? member->keys[p] : std::nullopt);
        ranges[mapping_->OffsetOf(&mapping_->key(i, p))] = RawOf(key);
      }
    }
  }
  // Everything was verified when the table was opened.
  return {mapping_->file().With(ranges).value(), SnapshotWith(digests)};
}

}  // namespace galley::director
