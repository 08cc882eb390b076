import FileSystemCore

/// What a request has brought that the kernel must be told: before its answer, and after it.
struct Notifications: Sendable {
    let before: [FileSystemCore.Notification]
    let after: [FileSystemCore.Notification]

    init(_ request: borrowing Request) {
        before = request.notificationsBeforeReply
        after = request.notificationsAfterReply
    }

    /// Takes it from a request that goes on after its answer.
    init(taking request: inout Request) {
        self.init(request)
        request.notificationsBeforeReply = []
        request.notificationsAfterReply = []
    }

    var isEmpty: Bool { before.isEmpty && after.isEmpty }
}
