#include "director/journal/stored_journal.h"

#include <set>

#include "common/record/observed_value.h"
#include "director/journal/encoding.h"
#include "director/journal/keys.h"
#include "director/journal/record_builder.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Returns the common beginning of the keys of a package's records; the platform follows.
std::string RecordPrefix(std::string_view package) { return PackageKey(package, kRecordTag, {}); }

absl::Status MalformedKey() { return absl::DataLossError("the journal holds a malformed key"); }

// Deletes all entries whose keys begin with `prefix`.
absl::Status DeleteAll(JournalEntries& entries, std::string_view prefix, JournalChanges& changes) {
  return entries.Each(prefix, [&](std::string_view key, std::string_view) {
    changes.Delete(std::string(key));
    return absl::OkStatus();
  });
}

// Indexed: the subjects under which the records of a package are indexed.
struct Indexed {
  IndexEntries all;
  IndexEntries kept;  // of the platforms for which `is_kept`
};

absl::StatusOr<Indexed> ReadIndexed(JournalEntries& entries, std::string_view package,
                                    absl::FunctionRef<bool(std::string_view platform)> is_kept) {
  Indexed indexed;
  const std::string prefix = RecordPrefix(package);
  RETURN_IF_ERROR(
      entries.Each(prefix, [&](std::string_view key, std::string_view value) -> absl::Status {
        ASSIGN_OR_RETURN(const PlatformRecord record, DecodePlatformRecord(value));
        AddEntriesOf(package, record.observed, indexed.all);
        if (is_kept(key.substr(prefix.size())))
          AddEntriesOf(package, record.observed, indexed.kept);
        return absl::OkStatus();
      }));
  return indexed;
}

void PutPublished(JournalChanges& changes, std::string_view package, std::string_view platform,
                  const std::optional<Digest>& key, const std::optional<PublishedIn>& in) {
  changes.PutIf(key.has_value(), PackageKey(package, kPublishedTag, platform),
                key ? EncodePublished({*key, in}) : std::string());
}

absl::Status PutRecord(const JournalUpdate& update, bool is_new, JournalChanges& changes) {
  const PlatformRecord& record = update.record;
  std::string encoded;
  if (record::IsStrictlySorted(record.observed)) {
    encoded = EncodePlatformRecord(record);
  } else {
    PlatformRecord canonical = record;
    ASSIGN_OR_RETURN(canonical.observed, record::Canonical(std::move(canonical.observed)));
    encoded = EncodePlatformRecord(canonical);
  }
  const auto key = [&](char tag) { return PackageKey(update.package, tag, update.platform); };
  changes.Put(key(kRecordTag), std::move(encoded));
  // Removes the key of an earlier record, if there is one.
  if (!record.is_trusted || !is_new) changes.PutIf(!record.is_trusted, key(kUntrustedTag), "");
  if (!is_new) changes.Delete(key(kFailureTag));
  if (!is_new || record.published_key)
    PutPublished(changes, update.package, update.platform, record.published_key,
                 record.published_in);
  if (update.is_unsent)
    changes.Put(UnsentKey(update.package, update.platform),
                EncodeUnsent({.action_key = record.action_key, .is_dispute = update.is_dispute}));
  return absl::OkStatus();
}

}  // namespace

// ------------------------------------------------------------------ reading

absl::StatusOr<std::optional<PackageRecord>> StoredJournal::Find(std::string_view package) {
  return Answer([&](JournalEntries& entries) -> absl::StatusOr<std::optional<PackageRecord>> {
    if (IsUnknown(package)) return std::optional<PackageRecord>();
    RecordBuilder builder;
    RETURN_IF_ERROR(entries.Each(
        PackagePrefix(package),
        [&](std::string_view key, std::string_view value) { return builder.Add(key, value); }));
    return builder.Take();
  });
}

absl::StatusOr<std::vector<InstigatorRecord>> StoredJournal::InstigatorsOf(
    std::string_view package) {
  return Answer([&](JournalEntries& entries) -> absl::StatusOr<std::vector<InstigatorRecord>> {
    ASSIGN_OR_RETURN(const auto bytes, entries.Get(PackageKey(package, kInstigatorsTag, {})));
    return bytes ? DecodeInstigators(*bytes) : std::vector<InstigatorRecord>();
  });
}

absl::Status StoredJournal::ForEach(
    const std::function<void(std::string_view, PackageRecord)>& visit) {
  return With([&](JournalEntries& entries) {
    RecordBuilder builder;
    std::string package;
    const auto finish = [&] {
      if (std::optional<PackageRecord> record = builder.Take(); record.has_value())
        visit(package, *std::move(record));
    };
    RETURN_IF_ERROR(entries.EachOfMany("P", [&](std::string_view key, std::string_view value) {
      const std::optional<PackageKeyParts> parts = ParsePackageKey(key);
      if (!parts) return MalformedKey();
      if (parts->package != package) {
        finish();
        package.assign(parts->package);
      }
      return builder.Add(key, value);
    }));
    finish();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<std::string>> StoredJournal::Affected(
    std::span<const content::Change> changes) {
  return Answer([&](JournalEntries& entries) -> absl::StatusOr<std::vector<std::string>> {
    std::set<std::string, std::less<>> affected;
    // Affected packages whose readers are still to be found.
    std::vector<std::string> readers_wanted;
    const auto add = [&](std::string_view package) {
      const auto [where, is_new] = affected.emplace(package);
      if (is_new) readers_wanted.push_back(*where);
    };
    const auto take = [&](const std::string& prefix) {
      return entries.Each(prefix, [&](std::string_view key, std::string_view) {
        add(key.substr(prefix.size()));
        return absl::OkStatus();
      });
    };
    const AskedOfIndex asked_of_index = AskedBy(changes);
    for (const std::string& package : asked_of_index.packages) {
      RETURN_IF_ERROR(entries.Each(RecordPrefix(package), [&](std::string_view, std::string_view) {
        add(package);
        return absl::OkStatus();
      }));
    }
    for (const auto& [prefix, names] : asked_of_index.beside) {
      RETURN_IF_ERROR(entries.Each(prefix, [&](std::string_view key, std::string_view value) {
        if (MayMeet(value, names)) add(key.substr(prefix.size()));
        return absl::OkStatus();
      }));
    }
    for (const std::string& prefix : asked_of_index.prefixes) RETURN_IF_ERROR(take(prefix));
    while (!readers_wanted.empty()) {
      const std::string package = std::move(readers_wanted.back());
      readers_wanted.pop_back();
      RETURN_IF_ERROR(take(IndexPrefix(kCookedKind, package)));
    }
    return std::vector<std::string>(affected.begin(), affected.end());
  });
}

absl::StatusOr<std::vector<std::string>> StoredJournal::PublishedPackages(
    std::string_view platform) {
  return Answer([&](JournalEntries& entries) -> absl::StatusOr<std::vector<std::string>> {
    std::vector<std::string> packages;
    RETURN_IF_ERROR(entries.EachOfMany("P", [&](std::string_view key, std::string_view) {
      const std::optional<PackageKeyParts> parts = ParsePackageKey(key);
      if (!parts) return MalformedKey();
      if (parts->tag == kPublishedTag && parts->platform == platform)
        packages.emplace_back(parts->package);
      return absl::OkStatus();
    }));
    return packages;
  });
}

absl::StatusOr<PublishedIn> StoredJournal::LastPublished(std::string_view platform) {
  return Answer([&](JournalEntries& entries) -> absl::StatusOr<PublishedIn> {
    ASSIGN_OR_RETURN(const auto bytes, entries.Get(PublishedSequenceKey(platform)));
    return bytes ? DecodeLastPublished(*bytes) : PublishedIn();
  });
}

absl::StatusOr<JournalProgress> StoredJournal::Progress() {
  return Answer([&](JournalEntries& entries) -> absl::StatusOr<JournalProgress> {
    JournalProgress progress;
    const auto add_attempt = [&](std::string_view key, std::string_view value) -> absl::Status {
      const std::optional<uint64_t> attempt = ParseAttemptKey(key);
      if (!attempt) return MalformedKey();
      ASSIGN_OR_RETURN(AttemptRecord record, DecodeAttempt(value));
      record.attempt = *attempt;
      progress.given.push_back(std::move(record));
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(entries.Each(kAttemptPrefix, add_attempt));
    const auto add_blame = [&](std::string_view key, std::string_view value) -> absl::Status {
      ASSIGN_OR_RETURN(BlameRecord blame, DecodeBlame(value));
      blame.package.assign(key.substr(kBlamePrefix.size()));
      progress.blamed.push_back(std::move(blame));
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(entries.Each(kBlamePrefix, add_blame));
    return progress;
  });
}

absl::StatusOr<std::vector<UnsentResult>> StoredJournal::Unsent() {
  return Answer([&](JournalEntries& entries) -> absl::StatusOr<std::vector<UnsentResult>> {
    std::vector<UnsentResult> unsent;
    const auto add = [&](std::string_view key, std::string_view value) -> absl::Status {
      const size_t end = key.find('\0');
      if (end == std::string_view::npos) return MalformedKey();
      ASSIGN_OR_RETURN(UnsentResult one, DecodeUnsent(value));
      one.package.assign(key.substr(kUnsentPrefix.size(), end - kUnsentPrefix.size()));
      one.platform.assign(key.substr(end + 1));
      unsent.push_back(std::move(one));
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(entries.Each(kUnsentPrefix, add));
    return unsent;
  });
}

// ------------------------------------------------------------------ writing

absl::Status StoredJournal::Invalidate(std::span<const std::string> packages,
                                       const JournalMeta& meta) {
  const absl::Status written = With([&](JournalEntries& entries) -> absl::Status {
    JournalChanges changes;
    for (const std::string& package : packages) {
      const std::string prefix = RecordPrefix(package);
      RETURN_IF_ERROR(entries.Each(prefix, [&](std::string_view key, std::string_view) {
        changes.Put(PackageKey(package, kUntrustedTag, key.substr(prefix.size())), "");
        return absl::OkStatus();
      }));
      changes.Delete(BlameKey(package));
    }
    changes.Put(std::string(kMetaKey), EncodeMeta(meta));
    return entries.Write(changes, true);
  });
  if (written.ok()) meta_ = meta;
  return written;
}

absl::Status StoredJournal::Record(std::span<const JournalUpdate> updates, bool sync) {
  // By package, then platform; the later of two updates of one record holds.
  std::map<std::string_view, UpdatesOfPackage> by_package;
  for (const JournalUpdate& update : updates) {
    RETURN_IF_ERROR(CheckKeyPart("package name", update.package));
    RETURN_IF_ERROR(CheckKeyPart("platform name", update.platform));
    by_package[update.package][update.platform] = &update;
  }
  return With([&](JournalEntries& entries) -> absl::Status {
    JournalChanges changes;
    for (const auto& [package, platforms] : by_package) {
      const bool is_new = IsUnknown(package);
      const auto where = [&, name = package] { return fmt::format("recording {}", name); };
      if (absl::Status done = Reindex(entries, package, platforms, is_new, changes); !done.ok())
        return Annotate(done, where());
      for (const auto& [platform, update] : platforms) {
        if (absl::Status done = PutRecord(*update, is_new, changes); !done.ok())
          return Annotate(done, fmt::format("{} for {}", where(), platform));
      }
      NoteKnown(package);
    }
    const base::MutexLock lock(unsent_mutex_);
    return entries.Write(changes, sync);
  });
}

// Removes index entries that hold for no platform any more, and adds new entries. `is_new`: there
// are no entries.
absl::Status StoredJournal::Reindex(JournalEntries& entries, std::string_view package,
                                    const UpdatesOfPackage& updates, bool is_new,
                                    JournalChanges& changes) {
  Indexed indexed;
  if (!is_new) {
    ASSIGN_OR_RETURN(indexed, ReadIndexed(entries, package, [&](std::string_view platform) {
                       return !updates.contains(platform);
                     }));
  }
  const std::map<std::string, std::string> before = IndexRecordsOf(package, indexed.all);
  for (const auto& [platform, update] : updates)
    AddEntriesOf(package, update->record.observed, indexed.kept);
  std::map<std::string, std::string> after = IndexRecordsOf(package, indexed.kept);
  for (const auto& [key, value] : before) {
    if (!after.contains(key)) changes.Delete(key);
  }
  for (auto& [key, value] : after) {
    const auto old = before.find(key);
    if (old == before.end() || old->second != value) changes.Put(key, std::move(value));
  }
  return absl::OkStatus();
}

absl::Status StoredJournal::RecordFailures(std::span<const FailureUpdate> updates) {
  return With([&](JournalEntries& entries) -> absl::Status {
    JournalChanges changes;
    for (const FailureUpdate& update : updates) {
      RETURN_IF_ERROR(CheckKeyPart("package name", update.package));
      RETURN_IF_ERROR(CheckKeyPart("platform name", update.platform));
      NoteKnown(update.package);
      changes.PutIf(update.failure.has_value(),
                    PackageKey(update.package, kFailureTag, update.platform),
                    update.failure ? EncodeFailure(*update.failure) : std::string());
    }
    return entries.Write(changes, false);
  });
}

absl::Status StoredJournal::RecordInstigators(
    std::span<const std::pair<std::string, std::vector<InstigatorRecord>>> updates) {
  return With([&](JournalEntries& entries) -> absl::Status {
    JournalChanges changes;
    for (const auto& [package, instigators] : updates) {
      RETURN_IF_ERROR(CheckKeyPart("package name", package));
      NoteKnown(package);
      changes.PutIf(!instigators.empty(), PackageKey(package, kInstigatorsTag, {}),
                    EncodeInstigators(instigators));
    }
    return entries.Write(changes, false);
  });
}

absl::Status StoredJournal::RecordPublished(
    std::string_view platform, const PublishedIn& in,
    std::span<const std::pair<std::string, std::optional<Digest>>> keys) {
  RETURN_IF_ERROR(CheckKeyPart("platform name", platform));
  return With([&](JournalEntries& entries) -> absl::Status {
    JournalChanges changes;
    for (const auto& [package, key] : keys) {
      RETURN_IF_ERROR(CheckKeyPart("package name", package));
      NoteKnown(package);
      PutPublished(changes, package, platform, key, in);
    }
    changes.Put(PublishedSequenceKey(platform), EncodeLastPublished(in));
    return entries.Write(changes, true);
  });
}

absl::Status StoredJournal::RecordProgress(const JournalProgress& progress) {
  return With([&](JournalEntries& entries) -> absl::Status {
    JournalChanges changes;
    for (const AttemptRecord& attempt : progress.given)
      changes.Put(AttemptKey(attempt.attempt), EncodeAttempt(attempt));
    for (const uint64_t attempt : progress.over) changes.Delete(AttemptKey(attempt));
    for (const BlameRecord& blame : progress.blamed) {
      RETURN_IF_ERROR(CheckKeyPart("package name", blame.package));
      changes.PutIf(blame.own_faults > 0, BlameKey(blame.package), EncodeBlame(blame));
    }
    return entries.Write(changes, false);
  });
}

absl::Status StoredJournal::ForgetProgress() {
  return With([&](JournalEntries& entries) -> absl::Status {
    JournalChanges changes;
    for (const std::string_view prefix : {kAttemptPrefix, kBlamePrefix})
      RETURN_IF_ERROR(DeleteAll(entries, prefix, changes));
    return entries.Write(changes, true);
  });
}

absl::Status StoredJournal::Forget(std::span<const std::string> packages) {
  return With([&](JournalEntries& entries) -> absl::Status {
    JournalChanges changes;
    for (const std::string& package : packages) {
      ASSIGN_OR_RETURN(const Indexed indexed,
                       ReadIndexed(entries, package, [](std::string_view) { return false; }));
      for (const auto& [key, value] : IndexRecordsOf(package, indexed.all)) changes.Delete(key);
      RETURN_IF_ERROR(DeleteAll(entries, PackagePrefix(package), changes));
      changes.Delete(BlameKey(package));
    }
    return entries.Write(changes, true);
  });
}

absl::Status StoredJournal::ForgetUnsent(std::span<const UnsentResult> sent) {
  return With([&](JournalEntries& entries) -> absl::Status {
    const base::MutexLock lock(unsent_mutex_);
    JournalChanges changes;
    for (const UnsentResult& one : sent) {
      const std::string key = UnsentKey(one.package, one.platform);
      ASSIGN_OR_RETURN(const auto held, entries.Get(key));
      if (held == EncodeUnsent(one)) changes.Delete(key);
    }
    return entries.Write(changes, false);
  });
}

}  // namespace galley::director
