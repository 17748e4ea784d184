// UnseenReads: what a CookContext that keeps track of an attempt's looks is as well. A program
// reads files at their places, and of some Galley learns only from what they say in the end.
#pragma once

namespace galley::worker {

class UnseenReads {
 public:
  virtual ~UnseenReads() = default;
  // A program runs that has not said yet what it read: an attempt that is killed meanwhile, or that
  // fails, does not know all that it had looked at. Said again with `false` when the program ended
  // well and has told.
  virtual void SetReadsUnseen(bool are_unseen) = 0;
};

}  // namespace galley::worker
