#include "common/vfs/client.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "common/vfs/folder.h"
#include "common/vfs/protocol.h"
#include "common/vfs/retry.h"
#include "common/vfs/tree_difference.h"

namespace galley::vfs {
namespace {

constexpr int kListRoundsMax = 32;  // each one goes down to what was generated in the one before

// A director that compares two large trees is silent for a while.
constexpr AnswerLimits kDifferenceLimits{.body_bytes_max = 8 << 20, .silence_max_ms = 60'000};

// The tree that is seen does not tell, and the director is not asked: what was seen before may.
bool IsUnknownOffLine(const Fault& fault) {
  return fault.code == GALLEY_VFS_OFFLINE || fault.code == GALLEY_VFS_SUPERSEDED;
}

// Going by its name, a folder of which only a cook tells what it has.
bool IsFolderName(const std::string& path) {
  return path.ends_with(".d") || path.ends_with("/_gen");
}

}  // namespace

Outcome Client::Begin() {
  if (Outcome failed = blobs_.Begin()) return failed;
  if (Outcome failed = opened_.Begin()) return failed;
  return listed_.Begin();
}

Client::Status Client::status() const {
  return {.session = session_.state(),
          .cache = blobs_.cache().counts(),
          .fetched_files = ground_.fetched_files,
          .fetched_bytes = ground_.http.received_bytes(),
          .is_away = ground_.reach.is_away()};
}

// ------------------------------------------------------------------ files

Result<Client::Opened> Client::Open(const std::string& path, const std::atomic<bool>* stop) {
  const Waiting waiting = ground_.BeginCall(stop);
  const Result<View> view = session_.Look(waiting);
  if (!view.ok()) return view.fault();
  Result<Opened> opened = OpenIn(*view, path, waiting);
  if (opened.ok() && !opened->is_last_good)
    NoteSeen(opened_, *view, opened->root, path, opened->blob, waiting);
  if (opened.ok()) return opened;
  Fault fault = OfView(*view, opened.fault());
  if (IsUnknownOffLine(fault)) {
    Result<Opened> seen = OpenSeen(*view, path, waiting);
    if (seen.ok()) return seen;
  }
  fault.text = path + ": " + fault.text;
  return fault;
}

Result<std::shared_ptr<OpenFile>> Client::OpenBlob(const BlobId& blob,
                                                   const std::atomic<bool>* stop) {
  const Waiting waiting = ground_.BeginCall(stop);
  const bool may_ask = ground_.reach.MayAsk(ground_.options.clock());
  Result<std::shared_ptr<OpenFile>> file = blobs_.Open(blob, may_ask, waiting);
  if (!file.ok() && file.fault().code == kNotCached)
    return Fault{GALLEY_VFS_SERVER, "the director has lost " + blob.ToText()};
  return file;
}

Result<ShownPath> Client::Look(const std::string& path, bool is_from_cache,
                               const std::atomic<bool>* stop) {
  const Waiting waiting = ground_.BeginCall(stop);
  if (is_from_cache) {
    const View seen{.root = session_.state().view.root, .id = ""};
    if (seen.root.size == 0) return Fault{kNotCached, "nothing is seen yet"};
    Result<ShownPath> found = Find(seen, path, waiting);
    if (found.ok() || found.fault().code != GALLEY_VFS_OFFLINE) return found;
    return Fault{kNotCached, found.fault().text};
  }
  const Result<View> view = session_.Look(waiting);
  if (!view.ok()) return view.fault();
  const std::optional<ToldFiles::Told> told = FindTold(*view, path);
  if (told && told->blob) return ShownPath(FileAt{.blob = *told->blob});
  Result<ShownPath> found = Find(*view, path, waiting);
  const bool is_unknown = found.ok()
                              ? !view->is_online() && std::holds_alternative<NotCookedAt>(*found)
                              : IsUnknownOffLine(OfView(*view, found.fault()));
  if (is_unknown) {
    const Result<BlobId> seen = FindSeen(opened_, *view, path, waiting);
    if (seen.ok()) return ShownPath(FileAt{.blob = *seen});
    if (FindSeen(listed_, *view, path, waiting).ok()) return ShownPath(ShownFolder{});
  }
  if (found.ok()) return found;
  Fault fault = OfView(*view, found.fault());
  fault.text = path + ": " + fault.text;
  return fault;
}

// The cache may lack what the world has.
Fault Client::OfView(const View& view, Fault fault) {
  if (fault.code == kNotCached) fault.code = GALLEY_VFS_SERVER;
  const bool is_away = !view.is_online() && fault.code == GALLEY_VFS_OFFLINE;
  if (!is_away || view.why_not != GALLEY_VFS_SUPERSEDED) return fault;
  return {GALLEY_VFS_SUPERSEDED,
          "it is not in the cache, and the director does not have what is seen here any more"};
}

// The file `world` of a root names the world.
Result<BlobId> Client::WorldOf(const BlobId& root, bool may_fetch, const Waiting& waiting) {
  const Result<std::string> folder = blobs_.Read(root, may_fetch, waiting);
  if (!folder.ok()) return folder.fault();
  const Found found = FindEntry(*folder, "world");
  if (!found.entry) return Fault{GALLEY_VFS_SERVER, "the root names no world"};
  return found.entry->blob;
}

// `root`: a tree of the world.
void Client::NoteSeen(SeenFiles& seen, const View& view, const BlobId& root,
                      const std::string& path, const BlobId& blob, const Waiting& waiting) {
  const Result<BlobId> world = WorldOf(root, view.is_online(), waiting);
  const Outcome failed = world.ok() ? seen.Note(*world, path, blob) : Outcome(world.fault());
  if (failed) ground_.Log(GALLEY_VFS_WARNING, path + " is not had off line: " + failed->text);
}

// In one world the entries of a folder do not change, so one root is enough. Without a director
// there is nothing to note.
void Client::NoteListed(const View& view, const std::string& path, const Waiting& waiting) {
  if (!view.is_online() || FindSeen(listed_, view, path, waiting).ok()) return;
  NoteSeen(listed_, view, view.root, path, view.root, waiting);
}

// Finds a path that was seen in this world, though the cache lacks folders on the way to it now.
Result<BlobId> Client::FindSeen(SeenFiles& seen, const View& view, const std::string& path,
                                const Waiting& waiting) {
  const Result<BlobId> world = WorldOf(view.root, /*may_fetch=*/false, waiting);
  if (!world.ok()) return world.fault();
  const std::optional<BlobId> blob = seen.Find(*world, path);
  if (!blob) return Fault{GALLEY_VFS_OFFLINE, "it was never seen here"};
  return *blob;
}

Result<Client::Opened> Client::OpenSeen(const View& view, const std::string& path,
                                        const Waiting& waiting) {
  const Result<BlobId> blob = FindSeen(opened_, view, path, waiting);
  if (!blob.ok()) return blob.fault();
  return OpenBlobAt({.root = view.root}, path, *blob, waiting);
}

// Without the director, the files of the session that there was last are known all the same.
std::optional<ToldFiles::Told> Client::FindTold(const View& view, const std::string& path) const {
  if (view.is_online()) return told_.Find(view.id, path);
  const View seen = session_.state().view;
  const std::optional<ToldFiles::Told> told = told_.Find(seen.id, path);
  return told && told->blob && seen.root == view.root ? told : std::nullopt;
}

Outcome Client::Cook(const std::string& ask, const std::atomic<bool>* stop) {
  const Waiting waiting = ground_.BeginCall(stop);
  const Result<View> view = session_.Look(waiting);
  if (!view.ok()) return view.fault();
  const Result<View> grown = AskForFolder(*view, ask, waiting);
  if (grown.ok()) return std::nullopt;
  Fault fault = OfView(*view, grown.fault());
  fault.text = ask + ": " + fault.text;
  return fault;
}

Result<bool> Client::Advance(const std::optional<std::string>& only_from,
                             const std::atomic<bool>* stop) {
  const Waiting waiting = ground_.BeginCall(stop);
  const BlobId before = session_.state().view.root;
  const Result<bool> is_other_root = session_.Advance(only_from, waiting);
  if (!is_other_root.ok() || !*is_other_root || before.size == 0) return is_other_root;
  // A tree that has only grown is of the same world.
  const View now = session_.state().view;
  const Result<BlobId> was = WorldOf(before, now.is_online(), waiting);
  const Result<BlobId> is = WorldOf(now.root, now.is_online(), waiting);
  return !was.ok() || !is.ok() || *was != *is;
}

ReadFolder Client::FoldersOf(const View& view, const Waiting& waiting) {
  return [this, &waiting, may_fetch = view.is_online()](const BlobId& folder) {
    using Bytes = Result<FolderBytes>;
    if (waiting.is_cancelled()) return Bytes(Fault{GALLEY_VFS_CANCELLED, "it was cancelled"});
    if (waiting.is_over()) return Bytes(Fault{GALLEY_VFS_TIMED_OUT, "the tree takes too long"});
    if (const std::optional<FolderBytes> held = folders_.Find(folder)) return Bytes(*held);
    Result<std::string> read = blobs_.Read(folder, may_fetch, waiting);
    if (!read.ok()) return Bytes(read.fault());
    const FolderBytes bytes(*std::move(read));
    folders_.Put(folder, bytes);
    return Bytes(bytes);
  };
}

Result<ShownPath> Client::Find(const View& view, const std::string& path, const Waiting& waiting) {
  const ReadFolder folders = FoldersOf(view, waiting);
  return SessionTree(view.root, folders).Find(path);
}

Result<Client::Opened> Client::OpenIn(const View& view, const std::string& path,
                                      const Waiting& waiting) {
  if (const std::optional<ToldFiles::Told> told = FindTold(view, path)) {
    return told->blob ? OpenBlobAt(view, path, *told->blob, waiting) : AskFor(view, path, waiting);
  }
  const Result<ShownPath> entry = Find(view, path, waiting);
  if (!entry.ok()) return entry.fault();
  if (const auto* const file = std::get_if<FileAt>(&*entry))
    return OpenBlobAt(view, path, file->blob, waiting);
  if (std::holds_alternative<ShownFolder>(*entry))
    return Fault{GALLEY_VFS_INVALID, "it is a folder"};
  if (std::holds_alternative<NotCookedAt>(*entry)) return AskFor(view, path, waiting);
  return Fault{GALLEY_VFS_ABSENT, "there is no such file"};
}

Result<Client::Opened> Client::OpenBlobAt(const View& view, const std::string& path,
                                          const BlobId& blob, const Waiting& waiting) {
  Result<std::shared_ptr<OpenFile>> file = blobs_.Open(blob, view.is_online(), waiting);
  if (file.ok()) return Opened{.file = *std::move(file), .blob = blob, .root = view.root};
  // A store that has lost it makes it again for whoever asks for the path.
  const bool is_lost = file.fault().code == kNotCached && view.is_online();
  return is_lost ? AskFor(view, path, waiting) : file.fault();
}

// ------------------------------------------------------------------ a file of the session

Result<Client::Opened> Client::AskFor(const View& view, const std::string& path,
                                      const Waiting& waiting) {
  if (!view.is_online())
    return Fault{GALLEY_VFS_OFFLINE, "it is not in the cache, and the director is away"};
  View asked = view;
  std::optional<Download> download;
  if (const Outcome failed = Ask(asked, path, waiting, download)) return *failed;
  if (download->head().status == 200) return TakeAnswer(asked, path, *download, waiting);
  return FaultOf("it cannot be had", download->head(), download->problem());
}

// Asks for a folder of which only a cook tells what it has. Returns the view that has it.
Result<View> Client::AskForFolder(const View& view, const std::string& path,
                                  const Waiting& waiting) {
  if (!view.is_online())
    return Fault{GALLEY_VFS_OFFLINE, "the cache does not have it, and the director is away"};
  View asked = view;
  std::optional<Download> download;
  if (const Outcome failed = Ask(asked, path, waiting, download)) return *failed;
  const ResponseHead& head = download->head();
  std::optional<BlobId> root;
  if (head.status == 200) {  // it is a file
    const Result<Opened> file = TakeFile(asked, *download, waiting);
    if (!file.ok()) return file.fault();
    if (!file->is_last_good) root = file->root;
  }
  if (head.status == 404) root = ParseProblem(head, download->problem()).root;
  if (!root) return FaultOf("the folder cannot be had", head, download->problem());
  if (const Outcome failed = session_.MoveTo(asked, *root, waiting)) return *failed;
  asked.root = *root;
  return asked;
}

// Asks until there is an answer: a file, or why there is none. `view` becomes that of the session
// that answered.
Outcome Client::Ask(View& view, const std::string& path, const Waiting& waiting,
                    std::optional<Download>& download) {
  for (int tries = 1;; ++tries) {
    download.emplace(blobs_.cache());
    if (const Outcome failed = AskOnce(view, path, waiting, *download)) {
      if (tries >= kTriesMax || !MayTryAgain(ground_, *failed, waiting)) return failed;
      continue;
    }
    const ResponseHead& head = download->head();
    // The director waits no longer for one request than it wants to.
    const bool is_over_there = head.status == 504 && !waiting.is_over();
    if (is_over_there || (head.status == 503 && Pause(RetryAfterMs(head), waiting))) {
      --tries;  // no failure
      continue;
    }
    if (head.status == 200) return std::nullopt;
    if (waiting.is_cancelled()) return Fault{GALLEY_VFS_CANCELLED, "it was cancelled"};
    const bool may_have_ended =
        head.status == 404 && tries < kTriesMax && !ParseProblem(head, download->problem()).root;
    if (!may_have_ended) return std::nullopt;
    const Result<std::optional<View>> again = session_.OpenAgain(view, waiting);
    if (!again.ok()) return again.fault();
    if (!*again) return std::nullopt;
    view = **again;
  }
}

// Asks once, and gets the file into the cache if the answer has one.
Outcome Client::AskOnce(const View& view, const std::string& path, const Waiting& waiting,
                        Download& download) {
  const auto take_head = [&](const ResponseHead& head) -> Outcome {
    download.SetHead(head);
    if (head.status != 200) return std::nullopt;
    const std::optional<Hash> hash = ParseReprDigest(head.Find("repr-digest"));
    if (!hash || !head.length)
      return Fault{GALLEY_VFS_SERVER, "the answer has no digest or no length"};
    const BlobId blob{*hash, *head.length};
    download.SetBlob(blob);
    if (blobs_.cache().Has(blob)) return Fault{kStopped, ""};
    if (Outcome failed = download.Begin(blob)) return failed;
    // A request for the blob does not send again the beginning that is there.
    if (download.have() > 0) return Fault{kStopped, ""};
    download.BeginBodyAt(0);
    return std::nullopt;
  };
  const Request request{.target = "/v1/sessions/" + view.id + "/" + EncodePath(path),
                        .fields = {WaitField(waiting)}};
  const Result<ResponseHead> done =
      ground_.Do(request, waiting, {.head = take_head, .body = [&](std::string_view bytes) {
                                      return download.TakeBody(bytes);
                                    }});
  if (!done.ok() && done.fault().code != kStopped) return done.fault();
  if (!done.ok() || !download.has_begun()) return std::nullopt;
  if (Outcome failed = download.Finish()) return failed;
  ++ground_.fetched_files;
  return std::nullopt;
}

Result<Client::Opened> Client::TakeAnswer(const View& view, const std::string& path,
                                          Download& download, const Waiting& waiting) {
  Result<Opened> opened = TakeFile(view, download, waiting);
  if (!opened.ok() || opened->is_last_good) return opened;
  const BlobId root = opened->root;
  if (!ground_.options.follows_growth) {
    NoteTold(view, path, opened->blob, root, waiting);
    opened->root = view.root;  // of the same world
    return opened;
  }
  const Result<bool> is_there = IsInTree(root, path, opened->blob, waiting);
  if (!is_there.ok()) return is_there.fault();
  if (*is_there) {
    if (const Outcome failed = session_.MoveTo(view, root, waiting)) return *failed;
  }
  if (!*is_there) opened->root = view.root;
  return opened;
}

// `root` of what is returned: that of the session after the answer.
Result<Client::Opened> Client::TakeFile(const View& view, Download& download,
                                        const Waiting& waiting) {
  const BlobId blob = download.blob();
  const std::optional<BlobId> root = BlobId::Parse(download.head().Find("galley-root"));
  const bool is_last_good = !download.head().Find("galley-last-good").empty();
  download.Release();
  Result<std::shared_ptr<OpenFile>> file = blobs_.Open(blob, true, waiting);
  if (!file.ok()) return file.fault();
  return Opened{.file = *std::move(file),
                .blob = blob,
                .root = root.value_or(view.root),
                .is_last_good = is_last_good};
}

// The file was cooked for this session, whose tree has this root now. Where too much was told, the
// grown tree is read instead.
void Client::NoteTold(const View& view, const std::string& path, const BlobId& blob,
                      const BlobId& root, const Waiting& waiting) {
  session_.NoteGrown(view, root);
  if (told_.Note(view.id, path, {.blob = blob})) return;
  told_.Clear();
  static_cast<void>(session_.MoveTo(view, root, waiting));  // or else it is asked for again
}

// False: the tree does not have the file, as a session of an older world may have it from the store
// alone; or it cannot be read. The tree must not have another file there.
Result<bool> Client::IsInTree(const BlobId& root, const std::string& path, const BlobId& blob,
                              const Waiting& waiting) {
  const Result<ShownPath> entry = Find({.root = root, .id = "its own"}, path, waiting);
  if (!entry.ok()) {
    if (entry.fault().code == kNotCached || entry.fault().is_cut) return false;
    return entry.fault();
  }
  const auto* const file = std::get_if<FileAt>(&*entry);
  if (file == nullptr) return false;
  if (file->blob == blob) return true;
  return Fault{GALLEY_VFS_SERVER, "the director gave another file than its tree has"};
}

// ------------------------------------------------------------------ folders

Result<std::vector<ShownEntry>> Client::List(const std::string& path,
                                             const std::atomic<bool>* stop) {
  const Waiting waiting = ground_.BeginCall(stop);
  const Result<View> view = session_.Look(waiting);
  if (!view.ok()) return view.fault();
  View listed = *view;
  Result<ShownListing> listing = ListIn(listed, path, waiting);
  if (listing.ok()) {
    NoteListed(listed, path, waiting);
    return std::move(listing->entries);
  }
  Fault fault = OfView(*view, listing.fault());
  if (IsUnknownOffLine(fault)) {
    Result<ShownListing> seen = ListSeen(*view, path, waiting);
    if (seen.ok()) return std::move(seen->entries);
  }
  fault.text = path + ": " + fault.text;
  return fault;
}

// The folder as it was when it was listed in this world: the cache has the folders of that tree.
Result<ShownListing> Client::ListSeen(const View& view, const std::string& path,
                                      const Waiting& waiting) {
  const Result<BlobId> root = FindSeen(listed_, view, path, waiting);
  if (!root.ok()) return root.fault();
  View listed{.root = *root, .id = "", .why_not = view.why_not};
  return ListIn(listed, path, waiting);
}

Fault Client::NoFolder(const View& view, const std::string& path, const Waiting& waiting) {
  const Result<ShownPath> found = Find(view, path, waiting);
  const bool is_file = found.ok() && std::holds_alternative<FileAt>(*found);
  if (is_file) return {GALLEY_VFS_INVALID, "it is a file"};
  return {GALLEY_VFS_ABSENT, "there is no such folder"};
}

// `seen` becomes the view in which the folder is listed.
Result<ShownListing> Client::ListIn(View& seen, const std::string& path, const Waiting& waiting) {
  for (int round = 0; round < kListRoundsMax; ++round) {
    const ReadFolder folders = FoldersOf(seen, waiting);
    Result<std::optional<ShownListing>> listing = SessionTree(seen.root, folders).List(path);
    if (!listing.ok()) return listing.fault();
    if (!*listing) return NoFolder(seen, path, waiting);
    if ((*listing)->asks.empty()) return **std::move(listing);
    for (const std::string& ask : (*listing)->asks) {
      const Result<View> grown = AskForFolder(seen, ask, waiting);
      if (!grown.ok()) return grown.fault();
      seen = *grown;
    }
  }
  return Fault{GALLEY_VFS_SERVER, "the director's tree does not have what it says is cooked"};
}

Result<int> Client::Compare(const BlobId& older, const Watch::Tell& tell) {
  const Waiting waiting = ground_.BeginCall();
  const Result<View> view = session_.Look(waiting);
  if (!view.ok()) return view.fault();
  const Session::State seen = session_.state();
  // Two roots of one session differ by what was cooked between them.
  if (older == view->root || older == seen.newest()) return 0;
  const bool has_grown = view->is_online() && seen.view.id == view->id;
  const BlobId newest = has_grown ? seen.newest() : view->root;
  const Result<std::optional<RootDifference>> told =
      AskForDifference(*view, older, newest, waiting);
  if (!told.ok()) return told.fault();
  if (*told) return TellDifference(*view, **told, tell);
  int ended_by = 0;
  const Outcome failed =
      DiffTrees(older, newest, FoldersOf(*view, waiting), [&](const PathDifference& difference) {
        ended_by = tell({.kind = difference.kind, .path = difference.path});
        return ended_by == 0;
      });
  if (!failed) return ended_by;
  if (failed->code == kNotCached)
    return Fault{GALLEY_VFS_SUPERSEDED, "a folder of the two roots cannot be had any more"};
  return OfView(*view, *failed);
}

// An older director, and a root that is none of a session, have no answer; the trees may tell.
Result<std::optional<RootDifference>> Client::AskForDifference(const View& view,
                                                               const BlobId& older,
                                                               const BlobId& newer,
                                                               const Waiting& waiting) {
  using Told = std::optional<RootDifference>;
  if (!view.is_online()) return Told();
  const Request request{.target = "/v1/root/" + newer.ToText() + "?since=" + older.ToText()};
  const Result<Answer> answer = AskDirector(ground_, request, waiting, kDifferenceLimits);
  if (!answer.ok() && waiting.is_over()) return answer.fault();
  if (!answer.ok() || answer->head.status != 200) return Told();
  Told told = ParseDifference(answer->body);
  return told && !told->is_cut ? std::move(told) : Told();
}

int Client::TellDifference(const View& view, const RootDifference& difference,
                           const Watch::Tell& tell) {
  int ended_by = 0;
  const auto tell_one = [&](int kind, const std::string& path, const std::optional<BlobId>& blob) {
    const bool is_there = kind != GALLEY_VFS_REMOVED && (blob || !IsFolderName(path));
    if (is_there) told_.Note(view.id, path, {.blob = blob});
    ended_by = tell({.kind = kind, .path = path});
    return ended_by == 0;
  };
  const auto tell_files = [&](int kind, const std::vector<RootDifference::File>& files) {
    return std::ranges::all_of(
        files, [&](const auto& file) { return tell_one(kind, file.path, file.after); });
  };
  const auto tell_paths = [&](int kind, const std::vector<std::string>& paths) {
    return std::ranges::all_of(
        paths, [&](const auto& path) { return tell_one(kind, path, std::nullopt); });
  };
  static_cast<void>(tell_files(GALLEY_VFS_ADDED, difference.added) &&
                    tell_files(GALLEY_VFS_MODIFIED, difference.modified) &&
                    tell_paths(GALLEY_VFS_REMOVED, difference.removed) &&
                    tell_paths(GALLEY_VFS_STALE, difference.stale));
  return ended_by;
}

}  // namespace galley::vfs
